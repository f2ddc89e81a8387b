"""A forger of results who can change a copy of a site or of a backup."""

import json
import os
import shutil
from base64 import b64decode, b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.cli.keys import verify_folder
from tasks.backup import restoration
from tasks.backup.creation import create_backup
from tasks.backup.manifest import MANIFEST, SIGNATURE, BackupError, open_backup
from tasks.backup.restoration import restore_backup
from tasks.backup.signature import describe_unchecked_signature
from tasks.publishing.freshness import _read_judges
from tasks.signing.keys import (
    KEY_VARIABLE,
    PUBLIC_NAME,
    SECRET_NAME,
    Signer,
    load_signer,
    make_keys,
)
from tasks.signing.signatures import BadSignature, PublicKey, load_public_key
from tasks.site.folder import SiteFolder
from tasks.site.mark import MARK, MARK_SIGNATURE, verify_site
from tasks.warehouse.rows import Edition, utc_now
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.attacks.test_imports import at_once
from tests.tasks.backed_up import keep_page

pytestmark = pytest.mark.file_only
PAGES = {"index.html": "<p>63.1 %</p>", "reports/a.html": "<p>A report.</p>"}


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    return load_signer(make_keys(tmp_path / "ours", None).secret, None)


@pytest.fixture
def key(signer: Signer, tmp_path: Path) -> PublicKey:
    return load_public_key(tmp_path / "ours" / PUBLIC_NAME)


@pytest.fixture
def theirs(tmp_path: Path) -> Signer:
    return load_signer(make_keys(tmp_path / "theirs", None).secret, None)


def publish(to: Path, signer: Signer | None) -> Path:
    with SiteFolder(to, signer) as folder:
        for name, page in PAGES.items():
            folder.add(name, page)
        folder.finish({"edition": "e"})
    return to


@pytest.fixture
def site(signer: Signer, tmp_path: Path) -> Path:
    return publish(tmp_path / "site", signer)


def lie(site: Path) -> None:
    (site / "index.html").write_text("<p>99.9 %</p>", "utf-8")


def relist(site: Path) -> None:
    """Replace a page, and its sha in the list."""
    with SiteFolder(site.with_name("forged")) as folder:
        folder.add("index.html", "<p>99.9 %</p>")
        folder.finish({})
    shutil.copy(site.with_name("forged") / MARK, site)


def add(site: Path) -> None:
    (site / "reports" / "b.html").write_text("<p>Another.</p>", "utf-8")


def add_hidden(site: Path) -> None:
    (site / ".evergreen-b.html").write_text("<p>Another.</p>", "utf-8")


def link(site: Path) -> None:
    """A page that is the same today, and its owner's to change tomorrow."""
    (site / "index.html").rename(site.with_name("elsewhere.html"))
    (site / "index.html").symlink_to(site.with_name("elsewhere.html"))


def pipe(site: Path) -> None:
    (site / "index.html").unlink()
    os.mkfifo(site / "index.html")


def link_folder(site: Path) -> None:
    site.with_name("elsewhere").mkdir()
    (site / "more").symlink_to(site.with_name("elsewhere"))


def remove(site: Path) -> None:
    (site / "reports" / "a.html").unlink()


def unsign(site: Path) -> None:
    (site / MARK_SIGNATURE).unlink()


def garble(site: Path) -> None:
    (site / MARK_SIGNATURE).write_bytes(b"\xff" * 100)


def recomment(site: Path) -> None:
    """Another date in the comment that is signed."""
    file = site / MARK_SIGNATURE
    file.write_text(file.read_text("utf-8").replace("timestamp:", "timestamp:9"), "utf-8")


@pytest.mark.parametrize(
    "forge",
    [lie, relist, add, add_hidden, link, pipe, link_folder, remove, unsign, garble, recomment],
)
def test_a_changed_site_is_refused(
    forge: Callable[[Path], None], site: Path, key: PublicKey
) -> None:
    """A signed site is refused once a file is changed, added, linked or removed."""
    signed_by, edition, n_files = verify_site(site, key)
    assert (signed_by.key_id, edition, n_files) == (key.key_id, "e", len(PAGES))
    forge(site)
    with at_once(), pytest.raises(BadSignature):
        verify_site(site, key)


def test_a_folder_that_cannot_be_listed_is_refused(
    site: Path, key: PublicKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signed site is refused if a folder in it cannot be listed: it may hold anything."""
    (site / "more").mkdir()
    (site / "more" / "b.html").write_text("<p>Another.</p>", "utf-8")
    scan = os.scandir

    def refuse(path: Path | str) -> Any:
        if Path(path).name == "more":
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(BadSignature, match="cannot be listed"):
        verify_site(site, key)


def test_a_verification_says_of_what(
    site: Path, warehouse: Path, tmp_path: Path, signer: Signer, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is verified is named, by edition or day: an earlier one passes for no other."""
    public = tmp_path / "ours" / PUBLIC_NAME
    place = create_backup(warehouse, tmp_path / "b", signer=signer).place
    verify_folder(site, public)
    verify_folder(place.rename(place.with_name("20990101T000000.000000Z")), public)
    said = " ".join(capsys.readouterr().out.split())
    assert "a site of e, is signed by the key" in said
    assert f"a backup of {utc_now():%Y-%m-%d} " in said


def test_a_site_signed_by_another_key_is_refused(
    tmp_path: Path, theirs: Signer, key: PublicKey
) -> None:
    """A site that another key has signed is refused, and the key named."""
    site = publish(tmp_path / "site", theirs)
    with pytest.raises(BadSignature, match=f"signed by the key {theirs.key_id}, not by"):
        verify_site(site, key)


def test_a_key_with_another_ones_id_signs_for_itself_alone(
    tmp_path: Path, signer: Signer, theirs: Signer, key: PublicKey
) -> None:
    """A signature that borrows our key's id is refused."""
    site = publish(tmp_path / "site", theirs)
    [comment, signature, *rest] = (site / MARK_SIGNATURE).read_text("ascii").splitlines()
    ours = b64decode(signer.sign(b"", "").splitlines()[1])
    forged = b64encode(ours[:10] + b64decode(signature)[10:]).decode()  # algorithm and id
    (site / MARK_SIGNATURE).write_text("\n".join([comment, forged, *rest]), "ascii")
    with pytest.raises(BadSignature, match="was changed"):
        verify_site(site, key)


def test_a_signature_of_something_else_is_no_site(
    tmp_path: Path, signer: Signer, key: PublicKey
) -> None:
    """A signed text that is no list of files does not pass for a site."""
    (tmp_path / "site").mkdir()
    data = json.dumps({"articles": []}).encode()
    (tmp_path / "site" / MARK).write_bytes(data)
    (tmp_path / "site" / MARK_SIGNATURE).write_bytes(signer.sign(data, "manifest.json"))
    with pytest.raises(BadSignature, match="does not list a site's files"):
        verify_site(tmp_path / "site", key)


def test_an_unsigned_site_says_so(site: Path) -> None:
    """A site that is not signed says so, and keeps no earlier signature."""
    publish(site, None)
    assert json.loads((site / MARK).read_text("utf-8"))["signature"] == "none"
    assert not (site / MARK_SIGNATURE).exists()


def test_a_site_replaced_in_place_keeps_no_earlier_signature(
    site: Path, key: PublicKey, signer: Signer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A site whose files are replaced in place is signed anew or not at all, through no link."""
    monkeypatch.chdir(site)
    mine = site.with_name("mine")
    mine.write_text("mine")
    (site / f".evergreen-{MARK}").symlink_to(mine)
    publish(site, signer)
    verify_site(site, key)
    assert mine.read_text() == "mine"
    publish(site, None)
    assert not (site / MARK_SIGNATURE).exists()


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    path = tmp_path / "own" / "w.duckdb"
    path.parent.mkdir()
    with open_warehouse(path) as store:
        store.write(Change(Edition, [Edition(edition="e", source="test")]))
    return path


def restore(backup: Path, to: Path, key: PublicKey) -> None:
    with open_backup(backup) as found:
        restore_backup(found, to, public_key=key)


@pytest.mark.parametrize("name", ["backups", "b.tar"])
def test_a_signed_backup_is_restored(
    name: str, warehouse: Path, tmp_path: Path, signer: Signer, key: PublicKey
) -> None:
    """A backup is restored with `-p` when that key has signed it."""
    restore(create_backup(warehouse, tmp_path / name, signer=signer).place, tmp_path / "n.db", key)
    assert (tmp_path / "n.db").exists()


@pytest.mark.parametrize("signed", ["by another key", "by nobody"])
@pytest.mark.parametrize("name", ["backups", "b.tar"])
def test_a_backup_without_our_signature_is_not_restored(
    name: str, signed: str, warehouse: Path, tmp_path: Path, theirs: Signer, key: PublicKey
) -> None:
    """Restoring with `-p` refuses a backup that this key has not signed, and writes nothing."""
    by = theirs if signed == "by another key" else None
    made = create_backup(warehouse, tmp_path / name, signer=by)
    with pytest.raises(BadSignature):
        restore(made.place, tmp_path / "new" / "w.duckdb", key)
    assert not (tmp_path / "new").exists()


def test_a_changed_backup_is_not_restored(
    warehouse: Path, tmp_path: Path, signer: Signer, key: PublicKey
) -> None:
    """Restoring with `-p` refuses a backup whose manifest or table was changed."""
    place = create_backup(warehouse, tmp_path / "b", signer=signer).place
    table, manifest = place / "tables" / "editions.parquet", place / MANIFEST
    whole = table.read_bytes()
    table.write_bytes(whole + b"0")
    with pytest.raises(BackupError, match="was changed"):
        restore(place, tmp_path / "n.db", key)
    table.write_bytes(whole)
    manifest.write_text(manifest.read_text("utf-8").replace("w.duckdb", "x.duckdb"), "utf-8")
    with pytest.raises(BadSignature, match="was changed"):
        restore(place, tmp_path / "n.db", key)


@pytest.mark.parametrize("part", ["table", "page"])
def test_what_changes_after_it_was_verified_is_not_restored(
    part: str,
    warehouse: Path,
    tmp_path: Path,
    signer: Signer,
    key: PublicKey,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A backup that changes between its verification and its restoration is not restored."""
    with open_warehouse(warehouse) as store:
        keep_page(store, "https://x.org/", b"A page.")
    place = create_backup(warehouse, tmp_path / "b", signer=signer).place
    [page] = (tmp_path / "b" / "pages").rglob("*.gz")
    changed = place / "tables" / "editions.parquet" if part == "table" else page
    monkeypatch.setattr(
        restoration, "verify", lambda *_: changed.write_bytes(changed.read_bytes()[:-9])
    )
    with pytest.raises(BackupError, match="was changed"):
        restore(place, tmp_path / "new" / "w.duckdb", key)
    assert not (tmp_path / "new" / "w.duckdb").exists()


def test_a_site_is_signed_once_there_is_a_key(
    tmp_path: Path, signer: Signer, theirs: Signer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A monthly run with a key leaves no site as it is that this key has not signed."""
    site = tmp_path / "site"
    judges = []
    for by in (None, theirs, signer):
        with SiteFolder(site, by) as folder:
            folder.finish({"edition": "e", "judges": ["j"]})
        for named in ("", str(tmp_path / "ours" / SECRET_NAME)):
            monkeypatch.setenv(KEY_VARIABLE, named)
            judges.append(_read_judges(site, "e"))
    assert judges == [["j"], [], ["j"], [], ["j"], ["j"]]


def test_a_backup_says_whether_it_is_signed(
    warehouse: Path, tmp_path: Path, signer: Signer
) -> None:
    """A backup says whether it is signed, and whether its signature was taken away."""
    signed = create_backup(warehouse, tmp_path / "b", signer=signer).place
    unsigned = create_backup(warehouse, tmp_path / "c").place
    said = []
    for place in (unsigned, signed):
        with open_backup(place) as found:
            said.append(describe_unchecked_signature(found))
    assert said[0] == "Signature: none."
    assert f"by the key {signer.key_id}. Not verified" in said[1]
    (signed / SIGNATURE).unlink()
    with open_backup(signed) as found:
        assert "somebody has taken it away" in describe_unchecked_signature(found)
