"""Someone who looks for keys in what we hand out."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

from flows.cli import calls
from tasks import drafts
from tasks.annotation import sheets
from tasks.configuration.inversion import load_inversion
from tasks.masking import MASK
from tasks.publishing import drb2
from tasks.publishing.drb2 import FailedResult, ResultLine
from tasks.publishing.reports import CitedPage, CrossReferences, _write_cited_page
from tasks.sandbox.catalogue import PageFilter
from tasks.sandbox.program_archive import make_program_archive
from tasks.secrecy.guard import KeyGuard, LeakedKey
from tests.attacks.test_keys_in_results import OTHERS, OWN
from tests.tasks.sandbox.archives import opened, page, write_snapshot

THEIRS = OTHERS["Google"]


@pytest.fixture(autouse=True)
def our_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", OWN)


def test_the_archive_of_programs_holds_no_key(tmp_path: Path) -> None:
    """The archive that agents' programs read masks the keys in pages, and stops at ours."""
    snapshot, inversion = tmp_path / "exports" / "e", load_inversion()
    pages = (page(f"https://x.org/?key={THEIRS}", f"A {THEIRS}.", f"Of {THEIRS}"),)
    made = make_program_archive(write_snapshot(snapshot, pages), tmp_path / "a", inversion)
    [row] = pl.read_parquet(made / "pages.parquet").drop_nulls("text").to_dicts()
    assert (row["text"], row["title"]) == (f"A {MASK}.", f"Of {MASK}")
    assert row["url"] == f"https://x.org/?key={MASK}"
    write_snapshot(snapshot, (page("https://x.org/", f"A {OWN}."),))
    with pytest.raises(LeakedKey, match="MY_API_KEY"):
        make_program_archive(snapshot, tmp_path / "b", inversion)
    assert not list((tmp_path / "b").glob("[0-9a-f]*"))


def test_the_sandbox_serves_no_key(tmp_path: Path) -> None:
    """The sandbox masks the keys in pages, and is not opened with one of ours."""

    async def serve() -> list[str]:
        index = await opened(tmp_path / "a", [page("https://x.org/a", f"A {THEIRS}.", THEIRS)])
        served = await index.get_page("https://x.org/a", PageFilter())
        return [served.title, served.text]

    assert asyncio.run(serve()) == [MASK, f"A {MASK}."]
    with pytest.raises(LeakedKey, match="MY_API_KEY"):
        asyncio.run(opened(tmp_path / "b", [page("https://x.org/a", f"A {OWN}.")]))


@pytest.mark.parametrize("key", [OWN, THEIRS])
def test_results_in_another_benchmarks_format_hold_no_key(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An export of results with a key is not written, and the message names its report."""
    line = ResultLine(model="a", idx=7, result=FailedResult(error=f"key {key} is wrong"))
    monkeypatch.setattr(drb2, "_check_layout", lambda *_: None)
    monkeypatch.setattr(drb2, "_make_lines", lambda *_: iter([line]))
    with pytest.raises(LeakedKey, match=r"result\.jsonl, a, idx-7: it holds"):
        drb2.export_drb2(cast(Any, None), "e", "j", tmp_path / "out")
    assert not (tmp_path / "out").exists()


class Ledger:
    """A ledger with one call."""

    def __init__(self, **texts: str) -> None:
        self.row = {"call_id": "c", "prompt": "-", "error": "-"} | texts

    def frame(self, sql: str, parameters: object = ()) -> pl.DataFrame:
        return pl.DataFrame({name: [value] for name, value in self.row.items()})


def test_an_export_of_the_ledger_holds_no_key(tmp_path: Path) -> None:
    """An export of calls masks the keys in quoted pages, and stops at ours and in errors."""
    file = tmp_path / "calls.jsonl"
    calls._export_calls(cast(Any, Ledger(prompt=f"Read {THEIRS}.")), {}, file)
    assert f"Read {MASK}." in file.read_text("utf-8")
    file.unlink()
    for texts in ({"prompt": OWN}, {"error": f"wrong key {THEIRS}"}):
        with pytest.raises(LeakedKey, match="calls, row call_id c, field"):
            calls._export_calls(cast(Any, Ledger(**texts)), {}, file)
    assert not file.exists()


def test_a_sheet_for_people_holds_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sheet for people masks the keys in what they read, and stops at ours."""
    said = [f"Is {THEIRS} right?", f"Is {OWN} right?"]
    monkeypatch.setattr(sheets, "render_page", lambda _: said[0])
    sheet = cast(Any, SimpleNamespace(name="s"))
    assert sheets.write_sheet(sheet, tmp_path).read_text("utf-8") == f"Is {MASK} right?"
    del said[0]
    with pytest.raises(LeakedKey, match="MY_API_KEY"):
        sheets.write_sheet(sheet, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_draft_for_people_holds_no_key(tmp_path: Path) -> None:
    """A draft of rubrics masks the keys in pages that it quotes, and is not written with ours."""
    drafts._write_file(tmp_path / "a.yaml", f"rubric: Says {THEIRS}.")
    assert (tmp_path / "a.yaml").read_text("utf-8") == f"rubric: Says {MASK}."
    with pytest.raises(LeakedKey, match="MY_API_KEY"):
        drafts._write_file(tmp_path / "b.yaml", f"rubric: Says {OWN}.")
    assert [path.name for path in tmp_path.iterdir()] == ["a.yaml"]


@pytest.mark.parametrize("snapshots", ["passages", "whole"])
def test_no_part_of_a_key_is_published_of_a_page(snapshots: str) -> None:
    """A key on a cited page is masked before the page is cut into passages."""
    url = "https://x.org/"
    written: list[Any] = []
    pages = SimpleNamespace(
        folder=SimpleNamespace(guard=KeyGuard()), add=lambda *_, **content: written.append(content)
    )
    row = {"url": url, "title": f"T {THEIRS}", "text": "", "fetched_at": datetime.now(UTC)}
    gathered = CrossReferences(cited={url: CitedPage(url, evidence={"a quoted sentence"})})
    for length in range(100, 160, 7):
        row["text"] = f"{THEIRS} {'x' * length} a quoted sentence"
        _write_cited_page(
            cast(Any, SimpleNamespace(snapshots=snapshots)), cast(Any, pages), row, gathered
        )
    assert written
    assert THEIRS[-12:] not in repr(written)
    assert THEIRS[:12] not in repr(written)
