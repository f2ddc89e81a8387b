"""The leaderboard's intervals, ranks and pairs: kept with it, and made again only when due."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tasks.agents.registry import AgentEntry, load_agents
from tasks.configuration.leaderboard import load_leaderboard_settings
from tasks.leaderboard import write_leaderboard
from tasks.protocols.registry import get_protocol
from tasks.scoring.pending import SCORER_VERSION
from tasks.scoring.rows import add_statistics, build_leaderboard_rows, is_current
from tasks.warehouse.results import OUTDATED, AgentPair, LeaderboardRow, Score
from tasks.warehouse.rows import Assignment
from tasks.warehouse.snapshot import latest_snapshot, open_snapshot
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.tasks.made_rows import a_row

FACT = get_protocol("wiki_fact")
N = 12


def score(agent: str, number: int, value: float, metric: str) -> Score:
    of = {"agent": agent, "assignment": f"x{number}", "metric": metric, "value": value}
    version = f"{SCORER_VERSION}/{FACT.version}"
    return a_row(Score, **of, numerator=value, n_items=1, scorer_version=version)


def assignment(number: int, article: str) -> Assignment:
    return a_row(Assignment, assignment=f"x{number}", article=article)


def scored(warehouse: Warehouse, metrics: Sequence[str] = ("coverage_wiki", "ref_acc")) -> None:
    """Two agents alike and one far below, over N articles, by each of the metrics."""
    values = np.random.default_rng(0).random((N, 3)) / 10
    values[:, :2] += 0.5
    scores = [
        score(agent, number, float(values[number, column]), metric)
        for metric in metrics
        for column, agent in enumerate(("ann", "bob", "cyd"))
        for number in range(N)
    ]
    articles = [assignment(number, f"article {number}") for number in range(N)]
    warehouse.write(Change(Score, scores), Change(Assignment, articles))


def publish(warehouse: Warehouse) -> None:
    rows = build_leaderboard_rows(warehouse, "e", [FACT])
    asyncio.run(write_leaderboard(warehouse, "e", rows))


def test_a_published_leaderboard_says_how_sure_it_is_and_so_does_its_export(
    warehouse: Warehouse,
) -> None:
    scored(warehouse)
    publish(warehouse)
    rows = warehouse.rows(LeaderboardRow, "metric = 'coverage_wiki'")
    assert [(r.agent, r.rank_from, r.rank_to, r.n_articles) for r in rows] == [
        ("ann", 1, 2, N), ("bob", 1, 2, N), ("cyd", 3, 3, N),
    ]  # fmt: skip
    assert all((r.low or 1) < (r.value or 0) < (r.high or 0) for r in rows)
    assert all(r.seed is not None and (r.resamples or 0) >= 2000 for r in rows)
    pairs = warehouse.rows(AgentPair, "metric = 'coverage_wiki'")
    assert [(p.agent, p.other, p.n_pairs) for p in pairs] == [
        ("ann", "bob", 3), ("ann", "cyd", 3), ("bob", "cyd", 3),
    ]  # fmt: skip
    exported, _ = open_snapshot(warehouse.location)
    with exported:
        counts = "SELECT (SELECT count(*) FROM agent_pairs), count(low) FROM leaderboard"
        assert exported.sql(counts).fetchall() == [(6, 6)]
    assert latest_snapshot(warehouse.location, "e").is_dir()


@pytest.mark.parametrize(
    ("change", "n_open", "reason"),
    [
        ({}, 0, None),
        ({"n_open": 2}, 2, None),
        ({"state": "pending", "value": None, "n_items": 0, "reason": "waits"}, 1, None),
        ({"state": "failed", "value": None, "n_items": 0, "reason": "broken"}, 1, None),
        ({"state": "empty", "value": None, "n_items": 0, "reason": "no claims"}, 0, None),
        ({"scorer_version": "of old"}, 1, OUTDATED),
    ],
)
def test_a_figure_is_provisional_as_long_as_something_of_it_is_open(
    warehouse: Warehouse, change: dict[str, Any], n_open: int, reason: str | None
) -> None:
    of_two = score("ann", 1, 0.5, "ref_acc").model_copy(update=change)
    warehouse.write(Change(Score, [score("ann", 0, 0.25, "ref_acc"), of_two]))
    [row] = build_leaderboard_rows(warehouse, "e", [FACT])
    assert (row.provisional, row.n_open, row.reason) == (n_open > 0, n_open, reason)
    assert row.value == (0.25 if of_two.value is None else 0.375)


def test_a_figure_without_a_value_says_what_most_of_its_reports_say(warehouse: Warehouse) -> None:
    empty = {"value": None, "numerator": None, "n_items": 0, "state": "empty"}
    scores = [
        score("ann", number, 0.0, "ref_acc").model_copy(update=empty | {"reason": reason})
        for number, reason in enumerate(("a rare one", "no claims", "no claims"))
    ]
    warehouse.write(Change(Score, scores))
    [row] = build_leaderboard_rows(warehouse, "e", [FACT])
    assert (row.value, row.reason, row.provisional) == (None, "no claims", False)


def test_what_has_been_published_is_current_until_a_score_changes(warehouse: Warehouse) -> None:
    scored(warehouse)
    assert not is_current(warehouse, "e", build_leaderboard_rows(warehouse, "e", [FACT]))
    publish(warehouse)
    assert is_current(warehouse, "e", build_leaderboard_rows(warehouse, "e", [FACT]))
    warehouse.write(Change(Score, [score("cyd", 0, 0.9, "ref_acc")]))
    assert not is_current(warehouse, "e", build_leaderboard_rows(warehouse, "e", [FACT]))


def test_articles_that_turn_out_to_be_one_make_other_intervals(warehouse: Warehouse) -> None:
    scored(warehouse)
    publish(warehouse)
    warehouse.write(Change(Assignment, [assignment(n, "the same") for n in range(8)]))
    assert not is_current(warehouse, "e", build_leaderboard_rows(warehouse, "e", [FACT]))
    publish(warehouse)
    assert {r.n_articles for r in warehouse.rows(LeaderboardRow, "true")} == {N - 7}


def test_only_metrics_whose_scores_have_changed_are_made_again(warehouse: Warehouse) -> None:
    scored(warehouse)
    publish(warehouse)
    kept = [r.model_copy(update={"low": -7.0}) for r in warehouse.rows(LeaderboardRow, "true")]
    marked = [p.model_copy(update={"low": -7.0}) for p in warehouse.rows(AgentPair, "true")]
    warehouse.write(Change(LeaderboardRow, kept), Change(AgentPair, marked))
    warehouse.write(Change(Score, [score("cyd", 0, 0.9, "ref_acc")]))
    rows, pairs = add_statistics(warehouse, "e", build_leaderboard_rows(warehouse, "e", [FACT]))
    assert {r.metric for r in rows if r.low == -7.0} == {"coverage_wiki"}
    assert {r.metric for r in rows if r.low != -7.0} == {"ref_acc"}
    assert {p.metric for p in pairs if p.low == -7.0} == {"coverage_wiki"}
    assert len(pairs) == 6


def test_who_leaves_is_in_no_pair_any_more(warehouse: Warehouse) -> None:
    scored(warehouse)
    publish(warehouse)
    nothing: dict[str, Any] = {"edition": "e", "agent": "bob"}
    warehouse.write(Change(Score, [], replacing=nothing))
    publish(warehouse)
    assert {(p.agent, p.other) for p in warehouse.rows(AgentPair, "true")} == {("ann", "cyd")}


def test_the_order_in_which_scores_came_changes_no_figure(tmp_path: Path) -> None:
    said = []
    for name, turned in (("one", False), ("other", True)):
        with open_warehouse(tmp_path / f"{name}.duckdb") as warehouse:
            scored(warehouse)
            scores = warehouse.rows(Score, "true")
            warehouse.write(Change(Score, [], replacing={"edition": "e"}))
            warehouse.write(Change(Score, scores[::-1] if turned else scores))
            publish(warehouse)
            said.append([warehouse.frame(f"SELECT * FROM {table} ORDER BY ALL")
                         for table in ("leaderboard", "agent_pairs")])  # fmt: skip
    assert all(a.equals(b) for a, b in zip(*said, strict=True))
    assert isinstance(said[0][0], pl.DataFrame)


def test_who_delivered_two_of_six_is_listed_apart_and_provisional(warehouse: Warehouse) -> None:
    """The other four were never delivered, and nobody knows why: no score, but no rank either."""
    ranked = [score(a, n, v, "ref_acc") for a, v in (("ann", 0.5), ("bob", 0.4)) for n in range(6)]
    articles = [assignment(number, f"article {number}") for number in range(6)]
    warehouse.write(
        Change(Score, [*ranked, *(score("cyd", n, 0.45, "ref_acc") for n in range(2))]),
        Change(Assignment, articles),
    )
    publish(warehouse)
    rows = {row.agent: row for row in warehouse.rows(LeaderboardRow, "true")}
    cyd = rows["cyd"]
    assert (cyd.value, cyd.n_delivered, cyd.n_assignments, cyd.n_open) == (0.45, 2, 6, 4)
    assert (cyd.rank_from, cyd.rank_to, cyd.provisional) == (None, None, True)
    assert cyd.unranked == "it delivered 2 of 6 reports, fewer than 95 %"
    assert [(rows[a].unranked, rows[a].rank_to, rows[a].provisional) for a in ("ann", "bob")] == [
        (None, 1, False), (None, 2, False),
    ]  # fmt: skip
    pairs = {(p.agent, p.other): p for p in warehouse.rows(AgentPair, "true")}
    assert {names: (p.n_articles, p.n_pairs) for names, p in pairs.items()} == {
        ("ann", "bob"): (6, 1), ("ann", "cyd"): (2, 2), ("bob", "cyd"): (2, 2),
    }  # fmt: skip


@pytest.mark.parametrize(("n_delivered", "is_ranked"), [(19, True), (18, False)])
def test_the_configured_share_of_assignments_is_enough_for_a_rank(
    warehouse: Warehouse, n_delivered: int, is_ranked: bool
) -> None:
    least = load_leaderboard_settings().completeness
    assert (n_delivered / 20 >= least) == is_ranked
    warehouse.write(
        Change(Score, [score("ann", n, 0.5, "ref_acc") for n in range(n_delivered)]),
        Change(Assignment, [assignment(n, f"article {n}") for n in range(20)]),
    )
    publish(warehouse)
    [row] = warehouse.rows(LeaderboardRow, "true")
    assert (row.rank_from is not None, row.unranked is None) == (is_ranked, is_ranked)


def test_an_agent_is_listed_apart_for_the_reason_that_its_entry_gives(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    configured = load_agents()
    entry = AgentEntry(name="Given", unranked="it was given the sources")
    agents = configured.model_copy(update={"agents": configured.agents | {"ann": entry}})
    monkeypatch.setattr("tasks.scoring.standings.load_agents", lambda: agents)
    scored(warehouse, ["ref_acc"])
    publish(warehouse)
    rows = warehouse.rows(LeaderboardRow, "true")
    assert [(row.agent, row.unranked, row.rank_from) for row in rows] == [
        ("ann", "it was given the sources", None), ("bob", None, 1), ("cyd", None, 2),
    ]  # fmt: skip
