"""Someone who looks for keys in backups and archives."""

import gzip
import json
from pathlib import Path

import pytest

from tasks.archive.export import export_texts, export_warc
from tasks.backup.creation import create_backup
from tasks.backup.manifest import open_backup
from tasks.masking import MASK
from tasks.secrecy.guard import KeyGuard, LeakedKey
from tasks.warehouse.calls import Call
from tasks.warehouse.contents import PageStore, pages_folder
from tasks.warehouse.pages import Page
from tasks.warehouse.rows import Report, Row
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.attacks.test_keys_in_results import OTHERS, OWN
from tests.tasks.backed_up import keep_file, keep_page

pytestmark = pytest.mark.file_only
THEIRS = OTHERS["Google"]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MY_API_KEY", OWN)
    return tmp_path / "own" / "w.duckdb"


def hold(path: Path, *rows: Row) -> Path:
    path.parent.mkdir(exist_ok=True)
    with open_warehouse(path) as store:
        for row in rows:
            store.write(Change(type(row), [row]))
    return path


def report(text: str) -> Report:
    return Report(
        edition="e", agent="a", assignment="b", text=text, text_sha="0" * 64, source_path="p"
    )


def page(text: str) -> Page:
    return Page(edition="e", url="https://x.org/", status="ok", title="T", text=text)


def call(**texts: str) -> Call:
    said: dict[str, str] = dict.fromkeys(
        ("request_id", "provider", "model", "parameters", "reply_schema", "system_prompt",
         "prompt", "prompt_sha", "judge", "protocol", "step", "delivery"), "-")  # fmt: skip
    return Call.model_validate({"call_id": "c", "attempt": 1, "status": "failed", **said, **texts})


def test_a_backup_with_our_key_is_not_made(path: Path, tmp_path: Path) -> None:
    """A backup whose tables hold one of our keys is not made, not even with --allow-keys."""
    hold(path, page(f"It says {OWN}."))
    for guard in (KeyGuard(), KeyGuard(stops_at_forms=False)):
        with pytest.raises(LeakedKey, match=r"pages, row edition e, url .*, field text: .*MY_API_"):
            create_backup(path, tmp_path / "b.tar", guard=guard)
    with pytest.raises(LeakedKey):
        create_backup(path, tmp_path / "b.tar")
    assert not (tmp_path / "b.tar").exists()


@pytest.mark.parametrize("store", ["pages", "files"])
def test_a_backup_with_our_key_in_a_file_is_not_made(
    store: str, path: Path, tmp_path: Path
) -> None:
    """A backup is not made of pages or reports' files whose bytes hold one of our keys."""
    hold(path)
    with open_warehouse(path) as opened:
        if store == "pages":
            keep_page(opened, "https://x.org/", f"<!-- {OWN} -->".encode())
        else:
            keep_file(opened, "a", b"\xff" + OWN.encode())
    with pytest.raises(LeakedKey, match=f"{store}/"):
        create_backup(path, tmp_path / "backups")


@pytest.mark.parametrize("row", [report(f"Use {THEIRS}."), call(error=f"wrong key {THEIRS}")])
def test_a_backup_with_somebodys_key_needs_permission(row: Row, path: Path, tmp_path: Path) -> None:
    """What looks like a key in a report or an error stops a backup, unless that is allowed."""
    hold(path, row)
    with pytest.raises(LeakedKey, match="looks like a key") as raised:
        create_backup(path, tmp_path / "b.tar")
    assert THEIRS not in str(raised.value)
    made = create_backup(path, tmp_path / "b.tar", guard=KeyGuard(stops_at_forms=False))
    assert made.manifest.keys == 1


def test_a_backup_counts_the_keys_on_pages_and_changes_nothing(path: Path, tmp_path: Path) -> None:
    """A backup counts the keys in pages' texts in its manifest, and leaves the texts whole."""
    hold(path, page(f"It says {THEIRS}, and {OTHERS['GitHub']}."), call(prompt=f"Read {THEIRS}."))
    made = create_backup(path, tmp_path / "b.tar")
    assert made.manifest.keys == 3
    with open_backup(made.place) as found:
        assert found.manifest.keys == 3


def test_an_export_of_pages_holds_no_key(path: Path, tmp_path: Path) -> None:
    """An export of the archive masks the keys in pages' texts, and stops at ours."""
    hold(path, page(f"It says {THEIRS}."))
    with open_warehouse(path) as store:
        texts = tmp_path / "pages.jsonl.gz"
        with texts.open("wb") as file:
            export_texts(store, "e", file)
        [line] = gzip.decompress(texts.read_bytes()).splitlines()
        assert json.loads(line)["text"] == f"It says {MASK}."
        with (tmp_path / "pages.warc.gz").open("w+b") as file:
            export_warc(store, PageStore(pages_folder(path)), "e", file)
        assert THEIRS.encode() not in gzip.decompress((tmp_path / "pages.warc.gz").read_bytes())
        store.write(Change(Page, [page(f"It says {OWN}.")]))
        refuse_to_export(store, path, tmp_path)


def test_an_export_of_pages_holds_no_bytes_with_our_key(path: Path, tmp_path: Path) -> None:
    """An export of the archive stops at one of our keys in the bytes of a page."""
    hold(path, Page(edition="kept", url="https://x.org/", status="ok", text="T", source="direct"))
    with open_warehouse(path) as store:
        keep_page(store, "https://x.org/", f"<!-- {OWN} -->".encode())
        refuse_to_export(store, path, tmp_path, "kept")


def refuse_to_export(store: Warehouse, path: Path, to: Path, edition: str = "e") -> None:
    pages = PageStore(pages_folder(path))
    with (to / "refused.warc.gz").open("wb") as file, pytest.raises(LeakedKey, match="MY_API_KEY"):
        export_warc(store, pages, edition, file)
