"""Standings of made scores: figures as the leaderboard has them, and how sure they are."""

import math
import random
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.configuration.models import MetricEntry
from tasks.metrics.cluster_sums import build_score_matrix
from tasks.metrics.ratios import Aggregate, aggregate
from tasks.scoring.agent_pairs import Pair
from tasks.scoring.standings import Standing, compute_standings

SCHEMA = {"agent": pl.String, "assignment": pl.String, "value": pl.Float64,
          "numerator": pl.Float64, "n_items": pl.Int64, "n_open": pl.Int64,
          "state": pl.String}  # fmt: skip
AGENTS = ("ann", "bob", "cyd")
CATEGORIES = {"x0": "one", "x1": "one", "x2": "two", "x3": "two", "x4": "three"}


def metric(how: Aggregate = "macro", better: Literal["higher", "lower"] = "higher") -> MetricEntry:
    return MetricEntry(name="m", title="M", aggregate=how, better=better, description="")


def scores(**agents: Sequence[float | None]) -> pl.DataFrame:
    """Values of each agent, of the assignments x0, x1, ...; one item each."""
    rows = [
        (agent, f"x{n}", value, value, int(value is not None), 0, "done")
        for agent, values in agents.items()
        for n, value in enumerate(values)
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def stand(frame: pl.DataFrame, how: MetricEntry | None = None, **more: Any) -> Any:
    return compute_standings(frame, how or metric(), more.pop("category_of", {}),
                     more.pop("article_of", {}), **more)  # fmt: skip


def row(found: Any, agent: str) -> Standing:
    [wanted] = [each for each in found.rows if each.agent == agent]
    assert isinstance(wanted, Standing)
    return wanted


ITEM = st.tuples(st.sampled_from(AGENTS), st.sampled_from(sorted(CATEGORIES)), st.integers(0, 9),
                 st.integers(1, 9), st.booleans())  # fmt: skip


@given(st.lists(ITEM, unique_by=lambda item: item[:2]), st.sampled_from(get_args(Aggregate)))
def test_the_figure_that_is_drawn_again_is_the_leaderboard_s(
    items: list[tuple[str, str, int, int, bool]], how: Aggregate
) -> None:
    frame = pl.DataFrame(
        [
            (agent, name, hits / n if there else None, float(hits), n if there else 0, 0, "done")
            for agent, name, hits, n, there in items
        ],
        schema=SCHEMA,
        orient="row",
    )
    # Two assignments of one article, one without an article.
    made = build_score_matrix(frame, how, CATEGORIES, {"x0": "A", "x1": "A", "x2": "B", "x3": "C"})
    sums = made.sums([(column, column) for column in range(len(made.agents))])
    whole = sums.figures(sums.flat.sum(axis=0)[None])[:, 0]
    for agent, figure in zip(made.agents, whole, strict=True):
        valued = frame.filter(pl.col("agent") == agent, pl.col("value").is_not_null())
        expected = aggregate(how, valued, CATEGORIES)
        assert math.isnan(figure) if expected is None else figure == pytest.approx(expected)


def test_a_pair_by_hand() -> None:
    # Differences .2, .4, 0, .2, .2: mean .2, standard deviation .1414; better in 4, equal in 1.
    # Of the 32 swaps |sum| reaches 1 where the four that differ keep one sign: 2 x 2. Five articles
    # are too few for ranks.
    found = stand(scores(ann=[0.5, 0.9, 0.4, 0.3, 0.4], bob=[0.3, 0.5, 0.4, 0.1, 0.2]))
    [pair] = found.pairs
    assert (pair.agent, pair.other, pair.n_articles, pair.n_pairs) == ("ann", "bob", 5, 1)
    assert pair.difference == pytest.approx(0.2)
    assert pair.effect_size == pytest.approx(0.2 / math.sqrt(0.02))
    assert pair.better_share == pytest.approx(0.9)
    assert (pair.p, pair.p_adjusted) == (0.125, 0.125)
    assert pair.low is not None
    assert pair.high is not None
    assert 0 < pair.low < 0.2 < pair.high < 0.4
    assert [(r.agent, r.rank_from, r.rank_to) for r in found.rows] == [
        ("ann", None, None), ("bob", None, None),
    ]  # fmt: skip


def test_agents_that_are_equal_differ_by_nothing_whatever_their_sums_were_rounded_to() -> None:
    values = [0.1, 0.7, 0.2, 0.3, 0.3, 0.6]
    for frame in (scores(ann=values, bob=values[::-1]), scores(ann=values, bob=values)):
        [pair] = stand(frame).pairs
        assert (pair.difference, pair.better_share, pair.p_adjusted) == (0.0, 0.5, 1.0)


def test_a_difference_that_chance_may_make_sets_no_ranks_apart() -> None:
    # Of six articles 2 of 64 swaps are as large, of five 2 of 32: fewer than six have no ranks, but
    # an order.
    found = stand(scores(bob=[0.1] * 5, cyd=[None] * 5, ann=[0.2, 0.3, 0.4, 0.5, 0.6]))
    assert found.pairs[0].p_adjusted == 2 / 32
    assert [(r.agent, r.rank_from, r.rank_to) for r in found.rows] == [
        (name, None, None) for name in ("ann", "bob", "cyd")
    ]
    found = stand(scores(ann=[0.2, 0.3, 0.4, 0.5, 0.6, 0.0], bob=[0.1] * 6))
    assert [(r.rank_from, r.rank_to) for r in found.rows] == [(1, 2), (1, 2)]
    found = stand(scores(ann=[0.2, 0.3, 0.4, 0.5, 0.6, 0.7], bob=[0.1] * 6))
    assert found.pairs[0].p_adjusted == 2 / 64
    assert [(r.rank_from, r.rank_to) for r in found.rows] == [(1, 1), (2, 2)]


def far_apart(better: Literal["higher", "lower"]) -> Any:
    """Two that are alike and one that is far below them, over 20 articles."""
    noise = np.random.default_rng(1).random((20, 3)) / 10
    noise[:, :2] += 0.5
    return stand(
        scores(**dict(zip(AGENTS, noise.T.tolist(), strict=True))), metric("macro", better)
    )


def test_what_is_sure_sets_ranks_apart_and_better_says_which_way() -> None:
    high, low = far_apart("higher"), far_apart("lower")
    assert {r.agent: (r.rank_from, r.rank_to) for r in high.rows} == {
        "ann": (1, 2), "bob": (1, 2), "cyd": (3, 3),
    }  # fmt: skip
    assert {r.agent: (r.rank_from, r.rank_to) for r in low.rows} == {
        "ann": (2, 3), "bob": (2, 3), "cyd": (1, 1),
    }  # fmt: skip
    assert [p.difference for p in high.pairs] == [p.difference for p in low.pairs]
    shares = zip(high.pairs, low.pairs, strict=True)
    assert all(a.better_share == pytest.approx(1 - b.better_share) for a, b in shares)
    assert all(p.n_pairs == 3 and (p.p_adjusted or 0) >= (p.p or 0) for p in high.pairs)


def test_who_has_no_value_has_no_place_and_takes_none() -> None:
    found = stand(scores(ann=[0.5] * 3 + [0.6] * 3, bob=[None] * 6, cyd=[0.1] * 6))
    assert [r.agent for r in found.rows] == ["ann", "cyd", "bob"]
    bob = row(found, "bob")
    assert (bob.value, bob.rank_from, bob.rank_to) == (None, None, None)
    assert (bob.n_articles, bob.interval_reason) == (0, "no value")
    assert [(r.rank_from, r.rank_to) for r in found.rows[:2]] == [(1, 1), (2, 2)]
    assert [(p.agent, p.other) for p in found.pairs] == [("ann", "cyd")]


def test_agents_are_compared_on_what_both_have_and_drawn_from_what_each_has() -> None:
    found = stand(scores(ann=[0.9] * 5 + [0.1] * 5, bob=[None] * 5 + [0.3, 0.2, 0.3, 0.2, 0.3],
                         cyd=[0.4] * 5 + [None] * 5))  # fmt: skip
    pairs = {(p.agent, p.other): p for p in found.pairs}
    assert (row(found, "ann").n_articles, row(found, "bob").n_articles) == (10, 5)
    assert row(found, "ann").value == pytest.approx(0.5)
    assert pairs["ann", "bob"].difference == pytest.approx(0.1 - 0.26), "only where both are"
    assert pairs["bob", "cyd"] == Pair(
        "bob", "cyd", 0, n_pairs=2, reason="no article of which both have a value"
    )


def test_assignments_of_one_article_are_one_cluster() -> None:
    frame = scores(ann=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], bob=[0.2] * 6)
    in_three = {f"x{n}": f"article {n % 3}" for n in range(6)}
    found = stand(frame, article_of=in_three)
    assert row(found, "ann").n_articles == found.pairs[0].n_articles == 3
    assert row(found, "ann").interval_reason == "fewer than 5 articles"
    assert row(stand(frame, article_of={"x0": None}), "ann").n_articles == 6
    assert (
        row(stand(frame), "bob").interval_reason
        == "every resample of the articles gives the same figure"
    )


def test_the_order_of_rows_changes_nothing() -> None:
    generator = np.random.default_rng(9)
    values = {agent: generator.random(12).tolist() for agent in AGENTS}
    values["bob"][3] = None
    frame = scores(**values)
    shuffled = frame.to_dicts()
    random.Random(0).shuffle(shuffled)
    assert stand(pl.DataFrame(shuffled, schema=SCHEMA)) == stand(frame)


def test_who_else_is_there_changes_nobody_s_interval_and_no_pair_s_p() -> None:
    generator = np.random.default_rng(6)
    values = {agent: generator.random(15).tolist() for agent in AGENTS}
    every, two = stand(scores(**values)), stand(scores(ann=values["ann"], bob=values["bob"]))
    for name in ("value", "low", "high"):
        assert getattr(row(every, "ann"), name) == getattr(row(two, "ann"), name)
    frame = scores(**values).filter((pl.col("agent") != "ann") | (pl.col("assignment") < "x5"))
    gaps, lone = (stand(each, assignable=[f"x{n}" for n in range(20)])
                  for each in (frame, frame.filter(agent="ann")))  # fmt: skip
    assert row(gaps, "ann").n_articles == 10
    assert row(gaps, "ann").low == row(lone, "ann").low is not None
    [alone] = two.pairs
    same = ("difference", "low", "high", "effect_size", "better_share", "p")
    assert [getattr(every.pairs[0], name) for name in same] == [
        getattr(alone, name) for name in same
    ]


@given(st.lists(st.lists(st.integers(0, 10), min_size=6, max_size=6), min_size=2, max_size=4))
@settings(max_examples=15, deadline=None)
def test_a_rank_range_holds_the_place_where_all_have_the_same_articles(
    values: list[list[int]],
) -> None:
    found = stand(scores(**{f"a{n}": [v / 10 for v in row] for n, row in enumerate(values)}))
    for each in found.rows:
        place = 1 + sum(other.value > each.value for other in found.rows)
        assert 1 <= each.rank_from <= place <= each.rank_to <= len(values)


def test_differences_can_be_left_without_intervals() -> None:
    frame = scores(ann=[0.1, 0.2, 0.3, 0.4, 0.5], bob=[0.2, 0.1, 0.4, 0.3, 0.9])
    [full], [bare] = stand(frame).pairs, stand(frame, all_pairs=False).pairs
    assert bare.low is None
    assert full.low is not None
    assert (bare.p, bare.difference) == (full.p, full.difference)


def test_open_items_and_reports_that_wait_are_counted() -> None:
    frame = scores(ann=[0.1, 0.2, None]).with_columns(
        n_open=pl.Series([2, 0, 0]), state=pl.Series(["done", "done", "failed"])
    )
    found = row(stand(frame), "ann")
    assert (found.n_reports, found.n_items, found.n_open) == (2, 2, 3)


def test_without_scores_there_are_no_standings() -> None:
    found = stand(pl.DataFrame(schema=SCHEMA))
    assert (found.rows, found.pairs) == ((), ())


def test_who_is_listed_apart_has_a_figure_and_changes_nothing_of_the_others() -> None:
    values: dict[str, list[float | None]] = {
        "ann": [0.9, 0.8, 0.9, 0.7, 0.9, 0.8], "bob": [0.3, 0.2, 0.4, 0.1, 0.2, 0.3],
    }  # fmt: skip
    alone = stand(scores(**values))
    found = stand(scores(**values, cyd=[1.0] * 6, dan=[None] * 6), unranked={"cyd"})
    assert [each.agent for each in found.rows] == ["ann", "bob", "cyd", "dan"]
    assert [row(found, name) for name in values] == list(alone.rows)
    assert [pair for pair in found.pairs if pair.other != "cyd"] == list(alone.pairs)
    ours = [pair for pair in found.pairs if pair.other == "cyd"]
    assert [(pair.agent, pair.n_pairs) for pair in ours] == [("ann", 2), ("bob", 2)]
    assert all(pair.low < pair.difference < pair.high < 0 for pair in ours)
    fewer = stand(scores(**values, cyd=[1.0] * 6), unranked={"cyd"}, all_pairs=False)
    assert [(pair.agent, pair.other) for pair in fewer.pairs] == [("ann", "bob")]
    apart = row(found, "cyd")
    assert (apart.value, apart.n_reports) == (1.0, 6)
    assert (apart.rank_from, apart.rank_to) == (None, None)
