"""Key points of the documents that people clicked: imported, fetched, made, served to nobody.

The queries and documents are synthetic, in the layout of Researchy Questions.
"""

import asyncio
import gzip
import io
import json
from pathlib import Path

import pytest

from flows.cli.import_queries import import_drgym
from tasks.archive.export import export_texts
from tasks.archive.pending import describe_open_pages, find_pending_pages
from tasks.benchmarks.drgym import SET, read_clicked_documents, read_drgym
from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.research import PublishedDocument
from tasks.imports.queries import import_queries
from tasks.judges.registry import load_judge_entry
from tasks.judging.cases import CaseLoader
from tasks.judging.cells import plan_cells
from tasks.key_points import DOCUMENT_CHARS, find_pending_key_points, load_documents
from tasks.planning.estimate import estimate_key_points
from tasks.planning.stages import count_stages
from tasks.protocols.registry import get_protocol
from tasks.sandbox.snapshot import read_ban
from tasks.warehouse.location import parse_location
from tasks.warehouse.pages import Page
from tasks.warehouse.rows import Agent, Citation, Report, content_sha
from tasks.warehouse.rubrics import SPANS, ClickedDocument, KeyPoint, PointSet
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.scripted_judge import ScriptedJudge
from tests.servers.gemini import GeminiServer
from tests.tasks.answering import JUDGE, made, server
from tests.tasks.made_rows import a_row

__all__ = ["server"]
A, B, C = "https://a.org/why", "https://b.org/how", "https://c.org/gone"
QUERY = {
    "id": "1", "question": "Why is the tower red?",
    "DocStream": [
        {"Url": "http://a.org/why#top", "Click_Cnt": 7, "Title": "Why"},
        {"Url": B, "Click_Cnt": 2}, {"Url": C}, {"Url": A}, {"Title": "no address"}, "nothing",
        {"Url": "javascript:alert(1)"},
    ],
}  # fmt: skip
TEXTS = {
    A: "The tower was painted red in 1890. Its owner liked the colour very much.",
    B: "Iron oxide keeps the tower from rusting. The paint is renewed every ten years.",
}


def a_copy(folder: Path) -> Path:
    path = folder / "researchy.jsonl"
    path.write_text(json.dumps(QUERY), "utf-8")
    return path


def page(url: str) -> Page:
    text = TEXTS.get(url)
    return Page(
        edition="gym", url=url, status="ok" if text else "unfetchable", text=text,
        text_sha=content_sha(text) if text else None, source="direct",
    )  # fmt: skip


@pytest.fixture
def warehouse(warehouse: Warehouse, tmp_path: Path) -> Warehouse:
    """A query with three clicked documents, and a report on it."""
    import_queries(warehouse, SET, read_drgym(a_copy(tmp_path)).queries, "gym")
    text = "The tower was painted red in 1890."
    warehouse.write(
        Change(Agent, [Agent(edition="gym", agent="a", name="a")]),
        Change(Report, [a_row(Report, edition="gym", assignment="1", text=text)]),
    )
    return warehouse


def fetched(warehouse: Warehouse, *urls: str) -> None:
    warehouse.write(Change(Page, [page(url) for url in urls]))


def test_documents_are_read_from_the_published_layout(tmp_path: Path) -> None:
    found = read_clicked_documents(a_copy(tmp_path))
    assert found["1"][:2] == (
        PublishedDocument(url="http://a.org/why#top", clicks=7),
        PublishedDocument(url=B, clicks=2),
    )
    assert len(found["1"]) == 4
    assert read_drgym(a_copy(tmp_path)).queries[0].documents == found["1"]
    other = tmp_path / "queries.jsonl"
    other.write_text(json.dumps({"id": "1", "query": "Why?"}), "utf-8")
    with pytest.raises(EditionError, match="DocStream"):
        read_clicked_documents(other)


def test_documents_are_fetched_as_cited_pages_are_and_need_no_agent(warehouse: Warehouse) -> None:
    rows = warehouse.rows(ClickedDocument, "true")
    assert sorted((row.url, row.clicks) for row in rows) == [(A, 7), (B, 2), (C, None)]
    for agents in ((), ("a",)):
        found = find_pending_pages(warehouse, "gym", "direct", agents)
        assert [request.url for request in found] == [A, B, C]
    assert "3 pages" in str(describe_open_pages(warehouse, "gym"))
    fetched(warehouse, A, B)
    assert [r.url for r in find_pending_pages(warehouse, "gym", "direct")] == [C]
    counts = {c.stage: c for c in count_stages(warehouse, "gym", "offline")}
    assert (counts["pages"].done, counts["pages"].pending) == (2, 1)


def test_documents_of_a_query_with_published_key_points_are_not_fetched(
    warehouse: Warehouse,
) -> None:
    warehouse.write(Change(PointSet, [PointSet(
        edition="gym", assignment="1", source="published", extractor_version="published",
        input_sha="1", output_sha="1", n_points=0, n_found=0, n_spans=0, n_verbatim=0,
    )]))  # fmt: skip
    assert find_pending_pages(warehouse, "gym", "direct") == []
    fetched(warehouse, A, B, C)
    assert find_pending_key_points(warehouse, "gym") == []


def test_points_are_made_of_each_document_and_merged_once_all_were_tried(
    warehouse: Warehouse, server: GeminiServer
) -> None:
    fetched(warehouse, A, B)
    assert find_pending_key_points(warehouse, "gym") == []  # C may still come
    fetched(warehouse, C)
    (item,) = find_pending_key_points(warehouse, "gym")
    assert load_documents(warehouse, item) == (TEXTS[A], TEXTS[B])
    long = page(B).model_copy(update={"text": "x" * (DOCUMENT_CHARS + 1)})
    warehouse.write(Change(Page, [long]))
    assert load_documents(warehouse, item)[1] == "x" * DOCUMENT_CHARS
    fetched(warehouse, B)
    _, entry = load_judge_entry(JUDGE)
    estimated = estimate_key_points(warehouse, JUDGE, entry, [item])  # type: ignore[arg-type]
    made(warehouse, find_pending_key_points(warehouse, "gym"))
    assert estimated["calls"].sum() == server.log.summary()["answered"] == 3
    spans = [s for p in warehouse.rows(KeyPoint, "true") for s in SPANS.validate_json(p.spans)]
    assert all(any(span in text for text in TEXTS.values()) for span in spans)
    for text in TEXTS.values():
        assert any(span in text for span in spans)
    assert find_pending_key_points(warehouse, "gym") == []
    made(warehouse, find_pending_key_points(warehouse, "gym"))
    assert server.log.summary()["answered"] == 3
    # Another text of a document: other points.
    warehouse.write(Change(Page, [page(B).model_copy(update={"text_sha": "other"})]))
    assert len(find_pending_key_points(warehouse, "gym")) == 1


@pytest.mark.parametrize("lost", [False, True])
def test_without_points_recall_is_open_while_documents_may_give_some(
    warehouse: Warehouse, lost: bool
) -> None:
    if lost:
        warehouse.write(
            Change(Page, [page(C).model_copy(update={"url": url}) for url in (A, B, C)])
        )
        assert find_pending_key_points(warehouse, "gym") == []
    protocol = get_protocol("research_gym")
    (plan,) = plan_cells(warehouse, "gym", protocol, ScriptedJudge())
    case = CaseLoader(warehouse, [plan]).load(plan)
    assert case.clicked_documents is not lost
    given = asyncio.run(protocol.judge(case, ScriptedJudge()))
    labels = {one.item: one.answer.label for one in given if one.step == "given"}
    assert labels["key_points"] == ("unknown" if lost else "clicked")


def test_neither_a_sandbox_nor_an_export_serves_documents_and_no_board_counts_them(
    warehouse: Warehouse,
) -> None:
    def exported() -> set[str]:
        file = io.BytesIO()
        export_texts(warehouse, "gym", file)
        lines = gzip.decompress(file.getvalue()).splitlines()
        return {json.loads(line)["url"] for line in lines}

    fetched(warehouse, A, B, C)
    assert exported() == set()
    assert {A, B, C} <= set(read_ban(export_edition(warehouse, "gym")).pages)
    assert warehouse.value("SELECT coalesce(sum(pages), 0) FROM page_counts") == 0
    cited = a_row(Citation, edition="gym", assignment="1", url=A, raw_url=A)
    warehouse.write(Change(Citation, [cited]))
    assert exported() == {A}  # as any cited page; a sandbox of this edition bans it still
    assert A in read_ban(export_edition(warehouse, "gym")).pages


def test_a_file_of_documents_is_named_beside_the_queries(tmp_path: Path) -> None:
    queries = tmp_path / "queries.jsonl"
    rows = [{"id": "1", "query": "Why is the tower red?"}, {"id": "2", "query": "Why?"}]
    queries.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    path = tmp_path / "w.duckdb"
    clicked = a_copy(tmp_path)
    import_drgym(queries, "gym", None, clicked, parse_location(path))
    import_drgym(queries, "gym", None, clicked, parse_location(path))  # changes nothing
    with open_warehouse(path) as warehouse:
        found = warehouse.rows(ClickedDocument, "true")
        assert sorted((row.assignment, row.url) for row in found) == [("1", A), ("1", B), ("1", C)]
        assert warehouse.value("SELECT count(*) FROM assignments") == 2
