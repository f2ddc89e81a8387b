"""Someone who hands us a backup to restore."""

import json
import os
import shutil
import tarfile
from collections.abc import Callable
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tasks.backup import restoration
from tasks.backup.creation import create_backup
from tasks.backup.manifest import BackupError, open_backup
from tasks.backup.restoration import restore_backup
from tasks.warehouse.contents import FileStore, files_folder
from tasks.warehouse.errors import DamagedWarehouse
from tasks.warehouse.rows import Edition
from tasks.warehouse.snapshot import export_edition, exports_folder
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.tasks.backed_up import (
    FILE,
    checked,
    contents,
    keep_file,
    keep_page,
    list_again,
    restored,
)

pytestmark = pytest.mark.file_only


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of backups with one backup. Never changed."""
    folder = tmp_path_factory.mktemp("original")
    with open_warehouse(folder / "w.duckdb") as store:
        store.write(Change(Edition, [Edition(edition="kept", source="test")]))
        keep_page(store, "https://example.org/", b"<p>A page.</p>")
        keep_file(store, "a", FILE)
    create_backup(folder / "w.duckdb", folder / "backups")
    create_backup(folder / "w.duckdb", folder / "backup.tar")
    return folder


@pytest.fixture
def dated(original: Path, tmp_path: Path) -> Path:
    """A backup to change: a dated folder."""
    shutil.copytree(original / "backups", tmp_path / "backups")
    [manifest] = (tmp_path / "backups").glob("*Z/manifest.json")
    return manifest.parent


def edit(dated: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = dated / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))
    list_again(dated)


def put(dated: Path, name: str, content: bytes) -> dict[str, Any]:
    """A file of the backup, as a manifest describes it."""
    (dated / name).write_bytes(content)
    return {"bytes": len(content), "rows": 0}


def refused(dated: Path, match: str) -> None:
    """The backup is refused, and nothing is left where it was to be restored."""
    to = dated.parents[1] / "new"
    with pytest.raises(BackupError, match=match):
        restored(dated, to / "w.duckdb")
    assert not to.exists() or not (to / "w.duckdb").exists()


@pytest.mark.parametrize("name", ["evil", "current_verdicts", "duckdb_settings", "select"])
def test_a_table_that_no_warehouse_has_is_not_restored(dated: Path, name: str) -> None:
    """A restore writes only the tables of this program's schema."""
    info = (dated / "tables" / "facts.parquet").read_bytes()
    table = put(dated, f"tables/{name}.parquet", info)
    edit(dated, lambda manifest: manifest["tables"].update({name: table}))
    refused(dated, f"`tables` lists {name}; expected the tables of schema version")


@pytest.mark.parametrize(
    "name", ["../../x", 'x"; DROP TABLE facts; --', "x (a) VALUES (1); --", ""]
)
def test_a_table_name_is_never_sql_or_a_path(dated: Path, name: str) -> None:
    """A table's name in a manifest is never run as SQL nor used as a path."""
    edit(dated, lambda m: m["tables"].update({name: m["tables"]["facts"]}))
    refused(dated, "is not a backup manifest")


def test_a_backup_without_a_table_is_no_backup(dated: Path) -> None:
    """A restore refuses a backup that lacks a table."""
    edit(dated, lambda manifest: manifest["tables"].pop("facts"))
    (dated / "tables" / "facts.parquet").unlink()
    refused(dated, "`tables` lacks facts")


@pytest.mark.parametrize("text", ['{"format":' + "[" * 99_999, "[]", "{}", "\xff", "1e999"])
def test_a_manifest_that_is_none_is_refused(dated: Path, text: str) -> None:
    """A restore refuses a manifest of another form, however deeply it is nested."""
    (dated / "manifest.json").write_text(text, "latin-1")
    refused(dated, "is not a backup manifest")


@pytest.mark.parametrize("store", ["pages", "files"])
def test_a_list_that_the_manifest_does_not_name_is_not_read(dated: Path, store: str) -> None:
    """A restore takes no page or file that the manifest does not vouch for."""
    edit(dated, lambda manifest: manifest["stores"].pop(store))
    refused(dated, "is not a backup manifest")


@pytest.mark.parametrize("name", ["x.txt", "tables/evil.parquet", "tables/facts.parquet.gz", ".x"])
def test_a_surplus_file_is_refused(dated: Path, name: str) -> None:
    """A restore refuses a backup with a file that its manifest does not list."""
    (dated / name).write_text("surplus")
    refused(dated, r"is not listed in manifest\.json")
    (dated / name).unlink()
    (dated / name).symlink_to(dated.parent)
    refused(dated, r"is not listed in manifest\.json")


@pytest.mark.parametrize("kind", ["file", "link", "device"])
def test_a_surplus_member_is_refused(original: Path, tmp_path: Path, kind: str) -> None:
    """A restore refuses an archive with a member that its manifest does not list."""
    to = tmp_path / "in" / "backup.tar"
    to.parent.mkdir()
    shutil.copyfile(original / "backup.tar", to)
    member = tarfile.TarInfo("../../etc/cron.d/x")
    member.linkname = "/etc/passwd"
    member.type = {"file": tarfile.REGTYPE, "link": tarfile.SYMTYPE, "device": tarfile.CHRTYPE}[
        kind
    ]
    with tarfile.open(to, "a") as tar:
        tar.addfile(member, BytesIO())
    refused(to, r"is not listed in manifest\.json")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("manifest.json", tarfile.SYMTYPE),
        ("tables/facts.parquet", tarfile.LNKTYPE),
        ("tables/facts.parquet", tarfile.GNUTYPE_SPARSE),
    ],
)
def test_only_plain_members_are_read(
    original: Path, tmp_path: Path, name: str, kind: bytes
) -> None:
    """A restore follows no link inside an archive, and fills no disk from a file with holes."""
    to = tmp_path / "in" / "backup.tar"
    to.parent.mkdir()
    with tarfile.open(original / "backup.tar") as before, tarfile.open(to, "w") as after:
        for member in before:
            content = before.extractfile(member)
            if member.name == name:
                member.name = "moved"
                link = tarfile.TarInfo(name)
                link.type, link.linkname = kind, "moved"
                after.addfile(link)
            after.addfile(member, content)
    refused(to, f"{name} of .* is missing")


@pytest.mark.parametrize("name", ["tables/facts.parquet", "files.txt", "manifest.json", "tables"])
def test_a_link_out_of_a_backup_is_not_followed(dated: Path, tmp_path: Path, name: str) -> None:
    """A restore follows no link out of the folder of backups."""
    (dated / name).rename(tmp_path / "elsewhere")
    (dated / name).symlink_to(tmp_path / "elsewhere")
    refused(dated, "leads out of its folder|is not listed")


def test_a_link_from_the_store_is_not_followed(dated: Path, tmp_path: Path) -> None:
    """A restore takes no page or file from outside the folder of backups."""
    sha = sha256(FILE).hexdigest()
    stored = dated.parent / "files" / sha[:2] / sha
    stored.rename(tmp_path / "elsewhere")
    stored.symlink_to(tmp_path / "elsewhere")
    refused(dated, "leads out of its folder")


@pytest.mark.parametrize("name", ["tables/facts.parquet", "pages.txt"])
def test_a_pipe_in_a_backup_is_refused(dated: Path, name: str) -> None:
    """A restore refuses a special file at once."""
    (dated / name).unlink()
    os.mkfifo(dated / name)
    refused(dated, "is not a regular file")


@pytest.mark.parametrize(
    ("what", "name"), [("tables", "tables/facts.parquet"), ("files", "files/{0:.2}/{0}")]
)
def test_what_changes_after_the_check_is_not_restored(dated: Path, what: str, name: str) -> None:
    """A restore takes only bytes whose sha-256 is the manifest's, also if a file is exchanged
    after it was verified."""
    place = dated if what == "tables" else dated.parent
    file = place / name.format(sha256(FILE).hexdigest())
    to = dated.parents[1] / "new" / "w.duckdb"

    def exchange(stage: str, done: int, total: int) -> None:
        if stage != "verified":
            file.write_bytes(file.read_bytes() + b" ")

    with open_backup(dated) as backup, pytest.raises(BackupError, match="was changed after"):
        restore_backup(backup, to, on_progress=exchange)
    assert not to.exists()
    assert [path for path in to.parent.rglob("*") if path.name.startswith(file.name)] == []


@pytest.mark.parametrize("what", ["back up", "restore"])
def test_no_unfinished_file_is_written_through_a_link(
    original: Path, dated: Path, tmp_path: Path, what: str
) -> None:
    """Neither a backup nor a restore writes through a link in the folder that it is given."""
    (tmp_path / "mine").write_text("mine")
    sha = sha256(FILE).hexdigest()
    to, ending = (tmp_path / "to", ".making")
    folder = to / "files" / sha[:2]
    if what == "restore":
        folder, ending = to / "files" / "w" / sha[:2], ".restoring"
    folder.mkdir(parents=True)
    (folder / f".{sha}{ending}").symlink_to(tmp_path / "mine")
    if what == "restore":
        restored(dated, to / "w.duckdb")
    else:
        create_backup(original / "w.duckdb", to)
    assert (folder / sha).read_bytes() == FILE
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.parametrize("change", ["warehouse_id = 'x'", "schema_version = 14"])
def test_a_warehouse_is_restored_as_what_the_manifest_says(dated: Path, change: str) -> None:
    """A restored warehouse has the id and the schema version of the manifest."""
    file = dated / "tables" / "warehouse_info.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS FROM '{file}'; UPDATE t SET {change}")
        connection.execute(f"COPY t TO '{file}' (FORMAT parquet)")
    table = put(dated, "tables/warehouse_info.parquet", file.read_bytes())
    edit(dated, lambda manifest: manifest["tables"].update(warehouse_info=table))
    refused(dated, r"is of another warehouse than manifest\.json")


def change(dated: Path, name: str, sql: str, **said: object) -> None:
    """Change a table, t, and what the manifest says of it: the truth, or what is given."""
    file = dated / "tables" / f"{name}.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS FROM '{file}'; {sql}; COPY t TO '{file}'")
        [(rows,)] = connection.execute("SELECT count(*) FROM t").fetchall()
    table = put(dated, f"tables/{name}.parquet", file.read_bytes()) | {"rows": rows} | said
    edit(dated, lambda manifest: manifest["tables"].update({name: table}))


@pytest.mark.parametrize(
    ("sql", "said", "match"),
    [
        ("INSERT INTO t FROM t", {}, r"has 2 rows with 1 key \(edition\)"),
        ("UPDATE t SET source = NULL", {}, "has nulls in source"),
        ("ALTER TABLE t ALTER title TYPE INTEGER", {}, "title is INTEGER; expected VARCHAR"),
        ("ALTER TABLE t ADD extra INTEGER", {}, "extra is INTEGER; expected no column"),
        ("SELECT 1", {"rows": 10**12}, r"has 1 row; manifest\.json lists 1,000,000,000,000"),
    ],
)
def test_a_table_that_no_warehouse_could_hold_changes_nothing(
    original: Path, dated: Path, tmp_path: Path, sql: str, said: dict[str, int], match: str
) -> None:
    """A restore refuses wrong types, columns, nulls, keys and counts before it touches anything,
    as a verification does."""
    (tmp_path / "there").mkdir()
    there = Path(shutil.copy(original / "w.duckdb", tmp_path / "there"))
    before = there.read_bytes(), sorted(there.parent.rglob("*"))
    change(dated, "editions", sql, **said)
    with pytest.raises(BackupError, match=rf"tables/editions\.parquet .*{match}") as verified:
        checked(dated)
    with pytest.raises(BackupError) as when_restored:
        restored(dated, there, replace=True)
    assert str(when_restored.value) == str(verified.value)
    assert (there.read_bytes(), sorted(there.parent.rglob("*"))) == before


def test_a_table_with_the_rows_that_the_manifest_lists_is_restored(
    original: Path, dated: Path, tmp_path: Path
) -> None:
    """What the tests above change is what is refused."""
    change(dated, "editions", "SELECT 1")
    restored(dated, tmp_path / "w.duckdb")
    assert contents(tmp_path / "w.duckdb") == contents(original / "w.duckdb")


@pytest.mark.parametrize("number", [-1, 1.5, 2**63, 10**400, "1", None, [], float("nan")])
def test_a_count_that_is_none_is_named(dated: Path, number: object) -> None:
    """A manifest's counts are numbers that a warehouse could have."""
    edit(dated, lambda manifest: manifest["tables"]["facts"].update(bytes=number))
    refused(dated, r"is not a backup manifest \((tables\.facts\.bytes: |.*[Nn]umber)")


@pytest.mark.parametrize(("store", "count"), [("pages", 0), ("files", 2)])
def test_a_list_has_as_many_names_as_the_manifest_says(dated: Path, store: str, count: int) -> None:
    """A restore restores as many pages and files as the manifest says."""
    edit(dated, lambda manifest: manifest["stores"][store].update(count=count))
    refused(dated, rf"{store}\.txt is not a list of sha-256 \({count} of them\)")


def test_what_duckdb_raises_is_a_sentence(
    original: Path, dated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A restore that fails in DuckDB nevertheless says what is wrong, and changes nothing."""
    there = Path(shutil.copy(original / "w.duckdb", tmp_path))
    before = there.read_bytes()
    change(dated, "editions", "UPDATE t SET source = NULL")
    monkeypatch.setattr(restoration, "verify", lambda *_: None)
    with pytest.raises(BackupError, match=r"could not be restored \(Constraint Error: NOT NULL"):
        restored(dated, there, replace=True)
    assert there.read_bytes() == before


@pytest.mark.parametrize("edition", ["..", ".", "", "../../x", "/etc"])
def test_no_name_of_an_edition_leads_out_of_the_exports(tmp_path: Path, edition: str) -> None:
    """An edition's name is never a path: exports stay in their folder and remove nothing else."""
    kept = [tmp_path / "data" / name for name in ("a", "b", "c", "exports/w/a", "exports/w/b")]
    for folder in kept:
        folder.mkdir(parents=True)
    with open_warehouse(tmp_path / "data" / "w.duckdb") as store:
        store.write(Change(Edition, [Edition(edition=edition, source="test")]))
        for _ in range(3):
            made = export_edition(store, edition)
        assert made.parents[1] == exports_folder(store.location)
    assert all(folder.exists() for folder in kept)


def test_only_editions_of_the_warehouse_are_exported(dated: Path) -> None:
    """A restore exports no edition that its warehouse does not hold."""
    edit(dated, lambda manifest: manifest.update(exported=["kept", "other", ".."]))
    to = dated.parents[1] / "new" / "w.duckdb"
    restored(dated, to)
    assert [path.name for path in exports_folder(to).iterdir()] == ["kept"]


@pytest.mark.parametrize("sha", ["../../../secret", "/etc/passwd", "", "é" * 64, "a" * 64 + "\n"])
def test_no_name_of_a_stored_file_is_a_path(tmp_path: Path, sha: str) -> None:
    """The sha-256 of a page or file, from a row, is never a path to another file."""
    (tmp_path / "secret").write_text("secret")
    with pytest.raises(DamagedWarehouse, match="is not a sha-256"):
        FileStore(files_folder(tmp_path / "w.duckdb")).get(sha)


def test_a_backup_takes_no_file_from_elsewhere(tmp_path: Path) -> None:
    """A backup of a warehouse copies nothing that lies outside its stores."""
    with open_warehouse(tmp_path / "w.duckdb") as store:
        keep_file(store, "a", FILE)
        store._writer._connection.execute("UPDATE report_files SET sha = '../w.duckdb'")
    (tmp_path / "a" / "backups" / "files").mkdir(parents=True)
    size = (tmp_path / "w.duckdb").stat().st_size
    (tmp_path / "a" / "w.duckdb").write_bytes(bytes(size))  # as if a backup had it already
    made = create_backup(tmp_path / "w.duckdb", tmp_path / "a" / "backups")
    assert made.manifest.stores["files"].count == 0
    assert len(made.manifest.missing) == 1
