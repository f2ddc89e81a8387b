"""A cell's id changes with what its verdicts rest on, and with nothing else."""

from pathlib import Path

import pytest

from tasks.benchmarks.research import PublishedItem, PublishedQuery, PublishedSet
from tasks.imports.queries import import_queries
from tasks.judges.decisions import Judge
from tasks.judging.cases import CaseLoader
from tasks.judging.cells import plan_cells
from tasks.models.prices import BYTES_PER_TOKEN
from tasks.protocols.registry import get_protocol
from tasks.warehouse.pages import Page
from tasks.warehouse.rows import Report
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.scripted_judge import ScriptedJudge
from tests.tasks.citing import ARTICLE_URL, page, plans_by_agent, write_edition
from tests.tasks.judges.recording import Recorder, recorded
from tests.tasks.protocols.framed import report

SHORT, LONG, OTHER = "https://short.org", "https://long.org", "https://other.org"
TOKENS = 2_500
BOUND = int(TOKENS * BYTES_PER_TOKEN)
"""Of the sample edition's cells by the scripted judge, as they were before pages were ever cut."""


@pytest.fixture
def warehouse(warehouse: Warehouse) -> Warehouse:
    """Reports by what they cite: a short page, a long one, a short one many times."""
    reports = {
        "short": [("red tower", [SHORT])],
        "long": [("red tower", [SHORT, LONG])],
        "often": [(f"claim {n}", [SHORT]) for n in range(5)],
        "unlisted": [("red tower", [LONG])],
    }
    pages = [page(SHORT, "s" * BOUND), page(LONG, "l" * (BOUND + 1)), page(OTHER, "o" * 9 * BOUND)]
    write_edition(warehouse, reports, pages, untrusted=["unlisted"])
    return warehouse


def ids(warehouse: Warehouse, judge: Judge) -> dict[str, str]:
    return {agent: plan.cell_id for agent, plan in plans_by_agent(warehouse, judge).items()}


def changed(earlier: dict[str, str], now: dict[str, str]) -> set[str]:
    assert earlier.keys() == now.keys()
    return {agent for agent in now if now[agent] != earlier[agent]}


def model(**settings: int) -> Judge:
    return recorded(Recorder(), **settings)


def test_only_cells_with_a_page_that_is_cut_rest_on_how_it_is_cut(warehouse: Warehouse) -> None:
    whole, cut, shorter = (
        ids(warehouse, model(page_tokens=tokens)) for tokens in (2 * TOKENS, TOKENS, TOKENS - 1)
    )
    assert changed(whole, ids(warehouse, model())) == set()
    assert changed(whole, cut) == {"long"}
    assert changed(cut, shorter) == {"short", "long", "often"}


def test_only_cells_with_more_claims_of_a_page_than_a_call_takes_rest_on_that(
    warehouse: Warehouse,
) -> None:
    together, apart, further = (
        ids(warehouse, model(page_claims_per_call=most)) for most in (5, 4, 3)
    )
    assert changed(ids(warehouse, model()), together) == set()
    assert changed(together, apart) == changed(apart, further) == {"often"}


def test_a_redirect_is_part_of_the_cells_that_cite_it_and_of_no_other(
    warehouse: Warehouse,
) -> None:
    before = ids(warehouse, ScriptedJudge())
    led = page(LONG, "l" * (BOUND + 1), final_url=ARTICLE_URL)
    warehouse.write(Change(Page, [led], replacing={"url": LONG}))
    assert changed(before, ids(warehouse, ScriptedJudge())) == {"long", "unlisted"}


def test_a_page_that_did_not_come_is_not_cut(warehouse: Warehouse) -> None:
    short = ids(warehouse, model(page_tokens=2 * TOKENS))
    gone = page(LONG, "l" * 9 * BOUND, status="bot_wall")
    warehouse.write(Change(Page, [gone], replacing={"url": LONG}))
    walled = [ids(warehouse, model(page_tokens=tokens)) for tokens in (2 * TOKENS, TOKENS)]
    assert changed(short, walled[0]) == {"long", "unlisted"}
    assert changed(*walled) == set()


def test_a_protocol_that_goes_by_a_rubric_has_cells_where_there_is_one(tmp_path: Path) -> None:
    ids = ("b-2", "b-10", "a-1")  # as published: no order of texts
    items = tuple(
        PublishedItem(item=each, dimension=each[0], text="Says it.", allowed=("1", "0"), points=1)
        for each in ids
    )
    queries = [
        PublishedQuery(key="with", query="Why?", items=items),
        PublishedQuery(key="without", query="How?"),
    ]
    bench = get_protocol("rubric_bench")
    published = PublishedSet(layout="made", title="Made", protocol=bench.name)
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        import_queries(warehouse, published, queries, "e")
        warehouse.write(Change(Report, [report(assignment=query.key) for query in queries]))
        [plan] = plan_cells(warehouse, "e", bench, recorded(Recorder()))
        assert (plan.assignment, plan.state) == ("with", "pending")
        case = CaseLoader(warehouse, [plan]).load(plan)
    assert (case.question, [r.item for r in case.rubric]) == ("Why?", [*ids])
