"""Which claims and reports count in leakage, from the warehouse to the board's note."""

from pathlib import Path

import polars as pl
import pytest

from tasks.judges.registry import load_judge
from tasks.protocols.registry import get_protocol, list_boards
from tasks.protocols.wiki_fact.figures import EARLIER_LEAKS
from tasks.scoring.board_notes import describe_earlier_leaks, describe_reports
from tasks.scoring.rows import build_leaderboard_rows
from tasks.warehouse.results import Cell, LeaderboardRow, Verdict
from tasks.warehouse.rows import Claim
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.tasks.citing import (
    ARTICLE_URL,
    EDITION,
    judge_all,
    page,
    plans_by_agent,
    score_all,
    write_edition,
)

URL = "https://a.org/1"
SAID = [("The old mill stands.", [URL]), ("It has a wheel.", [])]


@pytest.fixture
def warehouse(warehouse: Warehouse) -> Warehouse:
    """The claims of `ann` and `bob` are published, `cyd`'s are ours; the pairs of `bob` and `cyd`
    cannot be told. The publisher joins one claim of `bob` to the article, which he never cited."""
    reports = dict.fromkeys(("ann", "bob", "cyd"), SAID)
    write_edition(warehouse, reports, [page(URL, "The old mill stands.")], untrusted=["bob", "cyd"])
    claims = warehouse.rows(Claim, "true")
    changed = [
        claim.model_copy(update={"unwritten_urls": f"https://b.org {ARTICLE_URL}"})
        for claim in claims
        if claim.agent == "bob" and claim.number == 0
    ]
    ours = [c.model_copy(update={"source": "offline"}) for c in claims if c.agent == "cyd"]
    warehouse.write(Change(Claim, [*changed, *ours]))
    return warehouse


def test_published_claims_leak_by_urls_that_are_not_in_the_report(
    warehouse: Warehouse,
) -> None:
    rows = score(warehouse)
    leakage = {row.agent: row for row in rows if row.metric == "leakage_rate_by_article"}
    assert {name: (row.value, row.n_reports) for name, row in leakage.items()} == {
        "ann": (0.0, 1), "bob": (0.5, 1), "cyd": (None, 0),
    }  # fmt: skip
    assert leakage["cyd"].reason == "no list of sources"


def test_the_board_says_how_many_reports_leakage_leaves_out(warehouse: Warehouse) -> None:
    rows = pl.DataFrame([row.model_dump() for row in score(warehouse)])
    said = "Leak leaves out reports whose citations cannot be assigned to their claims: "
    assert f"{said}cyd 1." in describe_reports(rows, "Rep.")
    assert f"{said}Cyd of A 1." in describe_reports(rows, "Reports", {"cyd": "Cyd of A"})
    assert said not in describe_reports(rows.filter(pl.col("agent") != "cyd"), "Rep.")


def test_leakage_of_stored_verdicts_looks_through_copies_and_the_board_says_what_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = load_judge("offline")
    copy = f"https://web.archive.org/web/2020/{ARTICLE_URL}"
    with open_warehouse(tmp_path / "warehouse.duckdb") as opened:
        write_edition(opened, {"ann": [("The old mill stands.", [copy])]}, [])
        with monkeypatch.context() as before:
            before.setattr("tasks.protocols.wiki_fact.protocol.cites_page", lambda *_: False)
            judge_all(opened, judge)
        [cell] = plans_by_agent(opened, judge).values()
        figures = {score.metric: score for score in score_all(opened, judge)}
        assert cell.state == "done"
        assert (figures["leakage_rate"].value, figures["coverage_wiki"].value) == (1.0, 1.0)
        assert figures["coverage_wiki"].reason == EARLIER_LEAKS
        assert figures["coverage_wiki_all"].reason is None
        [board] = [b for b in list_boards() if "wiki_fact" in b.protocols]
        said = describe_earlier_leaks(opened, EDITION, "offline", board, {"ann": "Ann"})
        assert said.endswith("in leakage they are: Ann 1.")

        opened.write(Change(Verdict, [], replacing={"edition": EDITION}),
                     Change(Cell, [], replacing={"edition": EDITION}))  # fmt: skip
        figures = {score.metric: score for score in judge_all(opened, judge)}
        assert (figures["leakage_rate"].value, figures["coverage_wiki"].value) == (1.0, 0.0)
        assert [plan.cell_id for plan in plans_by_agent(opened, judge).values()] == [cell.cell_id]
        assert describe_earlier_leaks(opened, EDITION, "offline", board) == ""


def score(warehouse: Warehouse) -> list[LeaderboardRow]:
    judge_all(warehouse, load_judge("offline"))
    return build_leaderboard_rows(warehouse, EDITION, [get_protocol("wiki_fact")])
