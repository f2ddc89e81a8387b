"""`evergreen compare agents`, and what the leaderboard prints of ranges and intervals."""

import csv
import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from flows.display.leaderboard import leaderboard_rows, rank_agents
from tasks.protocols.declarations import INTERVAL
from tasks.scoring.board_notes import describe_ranges
from tasks.scoring.boards import choose_ranking_metric, select_boards
from tasks.scoring.columns import load_leaderboard
from tasks.warehouse.results import AgentPair
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.flows.conftest import Evergreen
from tests.tasks.scored_articles import COVERAGE, articles, scored

AGENTS = ("first", "second", "third")
N = 20
METRICS = [("wiki_fact", "leakage_rate"), COVERAGE, ("wiki_fact", "ref_acc"),
           ("fact", "effective_citations")]  # fmt: skip


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two agents alike and a third far below them; `second` lacks one article, `third` has open
    items. By leakage_rate, of which less is better, the third is better."""
    path = tmp_path_factory.mktemp("compared") / "w.duckdb"
    values = np.random.default_rng(3).random((N, 3)) / 10
    values[:, :2] += 0.5
    figures = {agent: tuple(values[:, n].tolist()) for n, agent in enumerate(AGENTS)}
    figures["second"] = (None, *figures["second"][1:])
    with open_warehouse(path) as warehouse:
        articles(warehouse, ())
        scored(warehouse, dict.fromkeys(METRICS, figures))
        warehouse._connection.execute(
            "UPDATE leaderboard SET provisional = true WHERE agent = 'third' AND metric = $1",
            ["coverage_wiki"],
        )
    return path


def asked(evergreen: Evergreen, path: Path, *more: str) -> str:
    code, out, said = evergreen("compare", "agents", "--edition", "e", "--warehouse", path, *more)
    assert code == 0, said
    return out


def test_the_larger_figure_stands_first_with_how_sure_and_on_how_many_articles(
    compared: Path, evergreen: Evergreen
) -> None:
    out = asked(evergreen, compared, "--metric", "coverage_wiki")
    lines = {tuple(line.split()[:2]): line.split() for line in out.splitlines() if line.split()}
    others = lines["first", "third"], lines["second", "third"]
    assert [line[-1] for line in others] == ["20", "19"]
    assert all(line[2].startswith("+") and line[2].endswith("*") for line in others)
    assert all(line[-2].endswith("°") for line in others)
    alike = lines.get(("first", "second")) or lines["second", "first"]
    assert not alike[-2].endswith("°")
    assert "Coverage, higher is better" in out
    assert "Corrected for 3 pairs" in out
    assert "over the articles" in out


def test_agents_stand_in_the_order_in_which_they_are_named(
    compared: Path, evergreen: Evergreen
) -> None:
    named = ("--metric", "coverage_wiki", "--format", "json")
    [one] = json.loads(asked(evergreen, compared, *named, "--agent", "third", "--agent", "first"))
    [other] = json.loads(asked(evergreen, compared, *named, "--agent", "first", "--agent", "third"))
    assert (one["agent"], one["other"], other["agent"]) == ("third", "first", "first")
    turned = ("difference", "effect_size")
    assert [one[name] for name in turned] == [-other[name] for name in turned]
    assert (one["low"], one["high"]) == (-other["high"], -other["low"])
    assert one["low"] < one["difference"] < one["high"] < 0
    assert (one["better_share"], other["better_share"]) == (0.0, 1.0)
    assert one["p_adjusted"] == other["p_adjusted"] < 0.05
    only = json.loads(asked(evergreen, compared, *named, "--agent", "second"))
    assert [(row["agent"], row["other"]) for row in only] == [
        ("second", "first"), ("second", "third"),
    ]  # fmt: skip


def test_headline_metrics_are_shown_where_none_is_named(
    compared: Path, evergreen: Evergreen
) -> None:
    rows = list(csv.DictReader(io.StringIO(asked(evergreen, compared, "--format", "csv"))))
    by_metric = {(row["protocol"], row["metric"]) for row in rows}
    ranks, stand_for = ("wiki_fact", "coverage_wiki"), {
        ("wiki_fact", "ref_acc"), ("fact", "effective_citations"),
    }  # fmt: skip
    assert by_metric == {ranks} | stand_for, "leakage_rate does neither"
    assert len(rows) == 3 * len(by_metric)
    only = asked(evergreen, compared, "--format", "csv", "--protocol", "fact")
    assert {row["protocol"] for row in csv.DictReader(io.StringIO(only))} == {"fact"}
    assert "In the metric's own numbers" in asked(evergreen, compared, "--protocol", "fact")


def test_less_is_better_where_the_metric_says_so(compared: Path, evergreen: Evergreen) -> None:
    named = ("--metric", "leakage_rate", "--agent", "third", "--agent", "first")
    [row] = json.loads(asked(evergreen, compared, *named, "--format", "json"))
    assert row["difference"] < 0
    assert row["better_share"] == 1.0
    assert "lower is better" in asked(evergreen, compared, *named)


def test_where_nobody_is_compared_it_says_how_to_compare(
    compared: Path, evergreen: Evergreen, tmp_path: Path
) -> None:
    path = tmp_path / "w.duckdb"
    shutil.copy(compared, path)
    with open_warehouse(path) as warehouse:
        warehouse.write(Change(AgentPair, [], replacing={"edition": "e"}))
    code, _, said = evergreen("compare", "agents", "--edition", "e", "--warehouse", path)
    assert code == 1
    assert "evergreen evaluate --edition e --judge offline" in " ".join(said.split())


def test_the_leaderboard_shows_ranges_and_the_ranking_metric_s_interval(
    compared: Path, evergreen: Evergreen
) -> None:
    code, out, _ = evergreen("leaderboard", "--edition", "e", "--warehouse", compared,
                             "--protocol", "wiki_fact")  # fmt: skip
    assert code == 0
    lines = {
        line.split()[1]: line.split()
        for line in reversed(out.splitlines())
        if len(line.split()) > 1
    }
    assert [lines[agent][0] for agent in AGENTS] == ["1–2", "1–2", "3"]
    flat = " ".join(out.split())
    assert "Based on 19 to 20 articles" in flat
    assert "provisional: figures with a star may still change" in flat
    with open_warehouse(compared) as warehouse:
        frame = load_leaderboard(warehouse, "e")
    row = frame.filter(agent="first", metric="coverage_wiki").row(0, named=True)
    assert f"{row['low'] * 100:.1f}–{row['high'] * 100:.1f}" in out
    assert all(wide[INTERVAL] for wide in leaderboard_rows(frame))
    _, told, _ = evergreen("leaderboard", "--edition", "e", "--warehouse", compared,
                           "--format", "json")  # fmt: skip
    [first] = [
        r for r in json.loads(told) if (r["agent"], r["metric"]) == ("first", "coverage_wiki")
    ]
    assert {name: first[name] for name in ("low", "high", "rank_from", "n_articles", "seed")} == {
        name: row[name] for name in ("low", "high", "rank_from", "n_articles", "seed")
    }
    assert (first["rank_from"], first["rank_to"]) == (1, 2)


def test_a_leaderboard_without_ranges_shows_no_ranks_and_no_word_of_ranges(
    compared: Path,
) -> None:
    with open_warehouse(compared) as warehouse:
        frame = load_leaderboard(warehouse, "e").filter(protocol="wiki_fact")
    bare = frame.with_columns(rank_from=None, rank_to=None, low=None, high=None)
    (board,) = select_boards(bare)
    assert choose_ranking_metric(bare, board) == "coverage_wiki", "nobody has a soft figure"
    assert rank_agents(bare, board) == [("–", agent) for _, agent in rank_agents(frame, board)]
    assert describe_ranges(bare, board) == ""
    assert all(INTERVAL not in row for row in leaderboard_rows(bare))


def test_an_agent_that_is_not_ranked_is_compared_when_it_is_named_and_the_reason_said(
    tmp_path: Path, evergreen: Evergreen
) -> None:
    path = tmp_path / "w.duckdb"
    halves = {agent: (0.5,) * n for agent, n in (("ann", 6), ("bob", 6), ("cyd", 2))}
    with open_warehouse(path) as warehouse:
        articles(warehouse, ())
        scored(warehouse, {COVERAGE: halves})
    out = asked(evergreen, path, "--metric", "coverage_wiki")
    assert "cyd" not in out
    named = asked(evergreen, path, "--metric", "coverage_wiki", "--agent", "cyd")
    lines = [line.split() for line in named.splitlines()]
    assert [(line[1], line[-1]) for line in lines if line[:1] == ["cyd"]] == [
        ("ann", "2"), ("bob", "2"),
    ]  # fmt: skip
    flat = " ".join(named.split())
    assert "Not ranked: cyd: it delivered 2 of 6 reports, fewer than 95 %. Compared over" in flat
    assert "Corrected for 2 pairs of cyd, shown or not" in flat
    mixed = asked(evergreen, path, "--metric", "coverage_wiki", "--agent", "ann",
                  "--agent", "bob", "--agent", "cyd")  # fmt: skip
    assert "Corrected for 1 pair. Corrected for 2 pairs of cyd" in " ".join(mixed.split())
    only = asked(evergreen, path, "--metric", "coverage_wiki", "--agent", "ann")
    assert "cyd" not in only
    _, board_out, _ = evergreen("leaderboard", "--edition", "e", "--warehouse", path)
    lines = [line.split() for line in board_out.splitlines()]
    assert [line[:2] for line in lines if line[1:2] in (["ann"], ["bob"], ["cyd"])] == [
        ["1–2", "ann"], ["1–2", "bob"], ["–", "cyd"],
    ]  # fmt: skip
    assert "Not ranked: cyd: it delivered 2 of 6 reports, fewer than 95 %." in board_out
    assert "2 of 6" in board_out
