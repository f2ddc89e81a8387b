"""A sender of reports, answers, data sets or corpora."""

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml.ns import qn

from tasks.agents.kinds.file_drop import FileDropAsk
from tasks.annotation.table import read_table
from tasks.benchmarks.answer_files import read_answers
from tasks.benchmarks.deepresearch_bench import read_deepresearch_bench
from tasks.benchmarks.drb2 import read_drb2
from tasks.benchmarks.drgym import read_drgym
from tasks.benchmarks.layout import Layout
from tasks.configuration.rubrics import load_rubric
from tasks.configuration.web import ReadingBounds
from tasks.documents.reading import read_by_kind
from tasks.errors import ExpectedError
from tasks.files import opening
from tasks.files.opening import open_file
from tasks.imports.matching import match_reports
from tasks.imports.reports import import_reports
from tasks.jobs.file_drop import exchange_files
from tasks.jobs.pending import PendingReport
from tasks.sandbox.source import read_corpus
from tasks.warehouse.jobs import ImportIssue
from tasks.warehouse.rows import Assignment, Edition, Report
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.tasks.documents.builders import picture, word

SECRET = "root:x:0:0:root"


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[Warehouse]:
    with open_warehouse(tmp_path / "warehouse.duckdb") as opened:
        opened.write(
            Change(Edition, [Edition(edition="e", source="wlc", title="E")]),
            Change(Assignment, [Assignment(edition="e", assignment=n, article=n) for n in "ab"]),
        )
        yield opened


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    """The folder that the sender fills and the user names."""
    (tmp_path / "inbox").mkdir()
    return tmp_path / "inbox"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file beside that folder."""
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "a.md").write_text(SECRET)
    return tmp_path / "etc" / "a.md"


@contextmanager
def at_once() -> Iterator[None]:
    """Fail instead of waiting for a pipe that nobody writes to."""

    def give_up(*_: object) -> None:
        raise AssertionError("it waits")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, 5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def drop(warehouse: Warehouse, folder: Path, agent: str | None = "mine") -> list[str]:
    """What an import of reports says of each file."""
    with at_once():
        summary = import_reports(warehouse, match_reports(warehouse, folder, "e", agent))
    return ["; ".join((outcome.outcome, *outcome.remarks)) for outcome in summary.outcomes]


def read_pages(folder: Path) -> list[str]:
    async def run() -> list[str]:
        bounds = ReadingBounds(workers=1, seconds=5)
        return [page.text async for page in read_corpus(folder, bounds, lambda _: None)]

    return asyncio.run(run())


def read_criteria(folder: Path) -> object:
    (folder / "query.jsonl").write_text('{"id": 1, "prompt": "What?"}')
    return read_deepresearch_bench(folder)


def read_references(folder: Path) -> object:
    (folder / "criteria.jsonl").write_text("")
    return read_criteria(folder)


def read_wlc_file(folder: Path) -> object:
    for part in ("wiki_data", "test_data"):
        (folder / part).mkdir()
    return Layout.open(folder).read_text("a.md")


FOLDERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "answers": ("a.json", read_answers),
    "key points": ("a.json", read_drgym),
    "queries": ("queries.jsonl", read_drgym),
    "deepresearch_bench": ("query.jsonl", read_deepresearch_bench),
    "criteria": ("criteria.jsonl", read_criteria),
    "references": ("reference.jsonl", read_references),
    "wlc": ("a.md", read_wlc_file),
    "corpus": ("a.jsonl", read_pages),
    "packed corpus": ("a.warc.gz", read_pages),
}
"""What is read from a folder: a file's name in it, and what reads the folder."""
FILES: dict[str, Callable[[Path], Any]] = {
    "reports": lambda path: open_file(path, within=None),
    "answers": read_answers,
    "queries": read_drb2,
    "corpus": read_pages,
    "rubric": load_rubric,
    "labels": lambda path: read_table(path, ["label"]),
}
"""What is read from a file that the user names."""


def test_a_link_to_a_secret_becomes_no_report(
    warehouse: Warehouse, inbox: Path, secret: Path
) -> None:
    """An import of reports follows no link out of its folder, and says so."""
    (inbox / "a.md").symlink_to(secret)
    (inbox / "b.md").symlink_to("../etc/a.md")
    assert [said[:36] for said in drop(warehouse, inbox)] == [
        "unreadable; it leads out of its fold"
    ] * 2
    assert warehouse.rows(Report, "true") == []
    assert SECRET not in str(warehouse.rows(ImportIssue, "true"))


@pytest.mark.parametrize("place", ["mine", "report"])
def test_a_link_to_a_folder_of_secrets_is_no_agent(
    warehouse: Warehouse, inbox: Path, secret: Path, place: str
) -> None:
    """An import of reports reads no agent's folder that is a link to another place."""
    (inbox / place).symlink_to(secret.parent if place == "mine" else secret.parents[1])
    with pytest.raises(ExpectedError, match="it leads out of its folder"):
        drop(warehouse, inbox, agent=None)
    assert warehouse.rows(Report, "true") == []


@pytest.mark.parametrize("kind", FOLDERS)
def test_no_link_leads_out_of_an_imported_folder(inbox: Path, secret: Path, kind: str) -> None:
    """No import of answers, queries, editions or corpora follows a link out of its folder."""
    name, read = FOLDERS[kind]
    (inbox / name).symlink_to(secret)
    with pytest.raises(Exception, match=r"leads out of (its folder|.*inbox)") as caught:
        read(inbox)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("kind", FOLDERS)
def test_a_pipe_in_a_folder_is_refused_at_once(inbox: Path, kind: str) -> None:
    """An import refuses a pipe in a folder instead of waiting for it."""
    name, read = FOLDERS[kind]
    os.mkfifo(inbox / name)
    with at_once(), pytest.raises(Exception, match="not a regular file"):
        read(inbox)


@pytest.mark.parametrize("kind", FILES)
def test_a_special_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    """An import refuses a pipe, a socket and a device that it is given, without reading them."""
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(str(tmp_path / "socket"))
    for special in ("pipe", "socket", "zero"):
        (tmp_path / "zero").unlink(missing_ok=True)
        (tmp_path / "zero").symlink_to("/dev/zero")
        named = tmp_path / f"{special}.jsonl"
        named.symlink_to(tmp_path / special)
        with at_once(), pytest.raises(Exception, match="not a regular file"):
            FILES[kind](named)


def test_special_files_among_reports_are_refused_at_once(warehouse: Warehouse, inbox: Path) -> None:
    """A pipe among reports is refused with its reason, and the others are imported."""
    os.mkfifo(inbox / "a.md")
    (inbox / "b.md").write_text("A report of [some] length.\n" * 20)
    assert [said.split(".")[0] for said in drop(warehouse, inbox)] == [
        "unreadable; it is not a regular file",
        "new",
    ]


def test_a_link_in_the_inbox_to_a_file_in_it_is_followed(warehouse: Warehouse, inbox: Path) -> None:
    """A link that stays in the folder, and one that the user names, still work."""
    (inbox / "later").mkdir()
    (inbox / "later" / "1.md").write_text("A report.\n" * 20)
    (inbox / "a.md").symlink_to("later/1.md")
    linked = inbox.with_name("linked")
    linked.symlink_to(inbox)
    assert drop(warehouse, linked) == ["new"]
    assert drop(warehouse, inbox / "a.md") == ["unchanged"]


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_link_that_comes_after_the_check_is_not_followed(
    inbox: Path, secret: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """A file or folder that is exchanged for a link while it is being opened is refused."""
    (inbox / "sub").mkdir()
    (inbox / "sub" / "a.md").write_text("harmless")
    check = opening.resolve_within

    def check_then_exchange(path: Path, within: Path) -> Path:
        real = check(path, within)
        (inbox / "sub" / "a.md").unlink()
        if what == "file":
            (inbox / "sub" / "a.md").symlink_to(secret)
        else:
            (inbox / "sub").rmdir()
            (inbox / "sub").symlink_to(secret.parent)
        return real

    monkeypatch.setattr(opening, "resolve_within", check_then_exchange)
    with pytest.raises(OSError, match=r"(?i)symbolic|not a directory"):
        open_file(inbox / "sub" / "a.md", within=inbox)


@pytest.mark.parametrize("folder", ["wiki_data/raw_wiki", "test_data/agent/md_data"])
def test_no_folder_of_an_edition_is_listed_elsewhere(
    inbox: Path, secret: Path, folder: str
) -> None:
    """An edition's folder that is a link to another place does not tell what lies there."""
    for part in ("wiki_data", "test_data"):
        (inbox / part).mkdir()
    (inbox / folder).parent.mkdir(exist_ok=True)
    (inbox / folder).symlink_to(secret.parent)
    with pytest.raises(ExpectedError, match="leads out of"):
        Layout.open(inbox).list_files(folder, ".md")


@pytest.mark.parametrize("form", ["{0}", "file://{0}"])
def test_a_report_shows_no_picture_of_this_machine(tmp_path: Path, form: str) -> None:
    """A Word report that names a picture on this machine does not get it."""
    secret = tmp_path / "secret.png"
    secret.write_bytes(picture())
    address = form.format(secret)

    def link(document: Any) -> None:
        document.add_paragraph("A report.")
        document.add_picture(BytesIO(picture(size=(3, 3))))
        [blip] = document.element.iter(qn("a:blip"))
        del blip.attrib[qn("r:embed")]
        rel = document.part.rels.get_or_add_ext_rel(RELATIONSHIP_TYPE.IMAGE, address)
        blip.set(qn("r:link"), rel)

    found = read_by_kind("docx", word(link))
    assert found.markdown.strip().startswith("A report.")
    assert found.pictures == ()


@pytest.mark.parametrize("link", ["prompt", "folder"])
def test_a_prompt_is_written_through_no_link(
    warehouse: Warehouse, inbox: Path, secret: Path, link: str
) -> None:
    """The prompts of an agent that people run by hand overwrite no file outside its folder."""
    if link == "folder":
        (inbox / "prompts").symlink_to(secret.parent)
    else:
        (inbox / "prompts").mkdir()
        (inbox / "prompts" / "a.md").symlink_to(secret)
    ask = FileDropAsk(kind="file_drop", folder=str(inbox))
    item = PendingReport(
        edition="e",
        agent="mine",
        assignment="a",
        title="A",
        kind="write_article",
        prompt="Write.",
        prompt_sha="",
        banned=(),
        attempt=1,
        jobs=(),
    )
    with suppress(ExpectedError):
        exchange_files(warehouse, "e", "mine", ask, [item])
    assert secret.read_text() == SECRET
