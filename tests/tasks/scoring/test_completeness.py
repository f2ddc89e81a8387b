"""Who is ranked: reports count against all assignments, also those that nobody has reports of."""

import pytest

from tasks.configuration.leaderboard import load_leaderboard_settings
from tasks.protocols.registry import get_protocol
from tasks.scoring import standings
from tasks.scoring.pending import current_version
from tasks.scoring.rows import add_statistics, build_leaderboard_rows
from tasks.scoring.standings import load_assignable
from tasks.warehouse.results import AgentPair, LeaderboardRow, Score
from tasks.warehouse.rows import Article, Assignment
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tests.tasks.made_rows import a_row

PROTOCOL = get_protocol("wiki_fact")
NINE = [f"x{n}" for n in range(9)]


@pytest.fixture
def warehouse(warehouse: Warehouse) -> Warehouse:
    """Nine articles and a question; `ann` and `bob` wrote of six articles, `cyd` of three."""
    named = [*((name, name, "write_article") for name in NINE), ("q", "x0", "find_claims")]
    warehouse.write(
        Change(Article, [Article(edition="e", article=name, title=name, url=f"https://w/{name}",
                                 text="A.", text_sha="t") for name in NINE]),
        Change(Assignment, [Assignment(edition="e", assignment=name, article=article, kind=kind)
                            for name, article, kind in named]),
        Change(Score, [score(agent, f"x{n}") for agent, n_reports in
                       (("ann", 6), ("bob", 6), ("cyd", 3)) for n in range(n_reports)]),
    )  # fmt: skip
    return warehouse


def score(agent: str, assignment: str) -> Score:
    of = {"agent": agent, "assignment": assignment, "judge": "offline", "numerator": 0.5}
    return a_row(Score, **of, n_items=1, scorer_version=current_version(PROTOCOL))


def board(warehouse: Warehouse) -> dict[str, LeaderboardRow]:
    rows, pairs = add_statistics(warehouse, "e", build_leaderboard_rows(warehouse, "e", [PROTOCOL]))
    warehouse.write(
        Change(LeaderboardRow, rows, replacing={"edition": "e"}),
        Change(AgentPair, pairs, replacing={"edition": "e"}),
    )
    return {row.agent: row for row in rows}


def test_what_nobody_delivered_counts(warehouse: Warehouse) -> None:
    assert load_assignable(warehouse, "e", PROTOCOL) == {*NINE}
    ann = board(warehouse)["ann"]
    assert (ann.n_delivered, ann.n_missing, ann.n_assignments) == (6, 0, 9)


def test_an_assignment_without_its_article_is_in_no_count_of_who_needs_it(
    warehouse: Warehouse,
) -> None:
    gone = Assignment(edition="e", assignment="gone", article="gone", kind="write_article")
    warehouse.write(Change(Assignment, [gone]))
    assert load_assignable(warehouse, "e", get_protocol("wiki_writing")) == {*NINE}


def test_another_threshold_ranks_anew_without_new_scores(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def require(share: float) -> None:
        found = load_leaderboard_settings().model_copy(update={"completeness": share})
        monkeypatch.setattr(standings, "load_leaderboard_settings", lambda: found)

    require(0.6)
    ranked = {agent: row.rank_to for agent, row in board(warehouse).items()}
    assert ranked == {"ann": 2, "bob": 2, "cyd": None}
    require(0.3)
    ranked = {agent: row.rank_to for agent, row in board(warehouse).items()}
    assert ranked == {"ann": 3, "bob": 3, "cyd": 3}
