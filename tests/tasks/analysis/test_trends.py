"""Figures over editions, and by the age of articles."""

from datetime import timedelta
from pathlib import Path

import pytest

from tasks.analysis.analyses import run_analyses
from tasks.analysis.difficulty import load_article_scores as values_of
from tasks.analysis.protocols import Metric
from tasks.analysis.trends import LESS_OTHERS, VALUE, load_ages, load_trend, measure_contamination
from tasks.metrics.correlation import fit_line
from tasks.protocols.registry import get_protocol
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.wiki_editions import Collection
from tasks.warehouse.writer import Change
from tests.tasks.made_rows import a_row
from tests.tasks.scored_articles import COVERAGE, FIRST, WRITING, articles, scored
from tests.tasks.warehouse.test_store import take_back_to_the_oldest_schema

WRITTEN = Metric("wiki_writing", get_protocol("wiki_writing").metrics[0])
COVERED = Metric("wiki_fact", get_protocol("wiki_fact").metrics[0])


def test_editions_follow_by_their_newest_article_and_undated_ones_come_last(
    warehouse: Warehouse,
) -> None:
    later = FIRST + timedelta(days=90)
    articles(warehouse, ("Art", "Art"), "b_first")
    articles(warehouse, ("Art",), "a_second", created_at=[later])
    articles(warehouse, ("Art",), "a_undated", created_at=[None])
    for edition, values in (
        ("b_first", (0.25, None)), ("a_second", (0.75,)), ("a_undated", (0.5,)),
    ):  # fmt: skip
        scored(warehouse, {WRITING: {"one": values}}, edition)
    scored(warehouse, {WRITING: {"elsewhere": (1.0,)}}, "a_second")
    scored(warehouse, {WRITING: {"one": (0.1,)}}, "b_first", judge="another")
    found = load_trend(warehouse, "b_first", "offline", [WRITTEN])
    assert found.select("agent", "edition", "value", "change").rows() == [
        ("one", "b_first", 0.25, None), ("one", "a_second", 0.75, 0.5),
        ("one", "a_undated", 0.5, -0.25),
    ]  # fmt: skip
    assert found["n_articles"].to_list() == [1, 1, 1]
    assert found["newest_article"].to_list()[1] == later.replace(tzinfo=None)


def test_editions_that_share_articles_stand_side_by_side_without_a_change(
    warehouse: Warehouse,
) -> None:
    later = FIRST + timedelta(days=90)
    articles(warehouse, ("Art", "Art"), "first")
    articles(warehouse, ("Art",), "second", "first", created_at=[later])
    articles(warehouse, ("Art",), "third", created_at=[later + timedelta(days=1)])
    for edition, value in (("first", 0.25), ("second", 0.75), ("third", 0.5)):
        scored(warehouse, {WRITING: {"one": (value,)}}, edition)
    found = load_trend(warehouse, "first", "offline", [WRITTEN])
    assert found.select("edition", "value", "change", "n_shared").rows() == [
        ("first", 0.25, None, 0), ("second", 0.75, None, 1), ("third", 0.5, -0.25, 0),
    ]  # fmt: skip
    remarks = run_analyses(warehouse, "first", "offline").remarks["trend"]
    assert "second shares 1 article with the edition before it" in remarks[0]


def test_metrics_keep_the_order_they_are_asked_in_and_null_is_no_figure(
    warehouse: Warehouse,
) -> None:
    articles(warehouse, ("Art",))
    scored(warehouse, {WRITING: {"one": (0.5,)}, COVERAGE: {"one": (0.2,), "two": (None,)}})
    found = load_trend(warehouse, "e", "offline", [WRITTEN, COVERED])
    assert found.select("metric", "agent").rows() == [
        ("writing_overall", "one"), ("coverage_wiki", "one"),
    ]  # fmt: skip
    assert load_trend(warehouse, "e", "offline", []).is_empty()


def test_figures_of_an_earlier_evergreen_are_compared_by_what_they_mean_today(
    tmp_path: Path,
) -> None:
    of = {metric.name: Metric("wiki_fact", metric) for metric in get_protocol("wiki_fact").metrics}
    all_pairs, readable = of["ref_acc"], of["ref_acc_readable"]
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        articles(warehouse, ("Art",), "old", created_at=[FIRST])
        scored(warehouse, {all_pairs.key: {"one": (0.5,)}}, "old")  # readable pages alone, then
    take_back_to_the_oldest_schema(tmp_path / "w.duckdb")
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        articles(warehouse, ("Art",), "new", created_at=[FIRST + timedelta(days=30)])
        for metric, value in ((all_pairs, 0.25), (readable, 0.75)):
            scored(warehouse, {metric.key: {"one": (value,)}}, "new")
        for edition in ("old", "new"):
            found = load_trend(warehouse, edition, "offline", [all_pairs, readable])
            assert found.select("metric", "edition", "value", "change").rows() == [
                ("ref_acc", "new", 0.25, None),
                ("ref_acc_readable", "old", 0.5, None),
                ("ref_acc_readable", "new", 0.75, 0.25),
            ]


def test_age_is_counted_back_from_the_newest_article(warehouse: Warehouse) -> None:
    articles(warehouse, ("Art", "Art", None))
    scored(warehouse, {WRITING: {"one": (0.5, 0.4, 0.3), "two": (0.1, None, 0.5)}})
    found = load_ages(warehouse, "e", values_of(warehouse, "e", "offline", WRITTEN))
    assert found.select("agent", "article", "age_days", "value", "others").rows() == [
        ("one", "x0", 2.0, 0.5, 0.1), ("one", "x1", 1.0, 0.4, None), ("one", "x2", 0.0, 0.3, 0.5),
        ("two", "x0", 2.0, 0.1, 0.5), ("two", "x2", 0.0, 0.5, 0.3),
    ]  # fmt: skip


def test_a_collected_edition_ends_with_its_window(warehouse: Warehouse) -> None:
    articles(warehouse, ("Art",))
    until = FIRST + timedelta(days=30)
    window = a_row(Collection, created_since=FIRST, created_until=until, spread=False)
    warehouse.write(Change(Collection, [window]))
    scored(warehouse, {WRITING: {"one": (0.5,)}})
    found = load_ages(warehouse, "e", values_of(warehouse, "e", "offline", WRITTEN))
    assert found["age_days"].to_list() == [30.0]


def test_undated_articles_have_no_age(warehouse: Warehouse) -> None:
    articles(warehouse, ("Art", "Art"), created_at=[None, None])
    scored(warehouse, {WRITING: {"one": (0.5, 0.1)}})
    points = load_ages(warehouse, "e", values_of(warehouse, "e", "offline", WRITTEN))
    assert points.is_empty()
    assert measure_contamination(points).is_empty()


def test_an_agent_that_knows_the_older_articles_rises_with_age_beside_the_others(
    warehouse: Warehouse,
) -> None:
    # All do worse on the older articles (a hundredth a day), but one less so.
    articles(warehouse, ("Art",) * 5)
    noise = (0.0, 0.01, -0.01, 0.01, -0.01)
    steady = tuple(0.3 + 0.01 * n for n in range(5))
    learned = tuple(0.5 + 0.002 * n + by for n, by in zip(range(5), noise, strict=True))
    scored(warehouse, {WRITING: {"steady": steady, "learned": learned}})
    points = load_ages(warehouse, "e", values_of(warehouse, "e", "offline", WRITTEN))
    found = {(r["agent"], r["of"]): r for r in measure_contamination(points).iter_rows(named=True)}
    assert found["steady", VALUE]["slope_per_30_days"] == pytest.approx(-0.3)
    assert found["steady", VALUE]["spearman"] == pytest.approx(-1)
    row = found["learned", LESS_OTHERS]
    expected = fit_line([(4 - n, learned[n] - steady[n]) for n in range(5)])
    assert expected.slope is not None
    assert row["slope_per_30_days"] == pytest.approx(30 * expected.slope)
    assert row["slope_per_30_days"] > 0.15
    assert row["p"] == pytest.approx(expected.p)
    assert found["steady", LESS_OTHERS]["slope_per_30_days"] == pytest.approx(
        -row["slope_per_30_days"]
    )
    assert row["n_articles"] == 5
    assert row["low"] < row["slope_per_30_days"] < row["high"]
    assert row["p_adjusted"] >= row["p"]


def test_a_single_agent_has_no_others_and_two_articles_no_line(warehouse: Warehouse) -> None:
    articles(warehouse, ("Art", "Art"))
    scored(warehouse, {WRITING: {"one": (0.5, 0.1)}})
    points = load_ages(warehouse, "e", values_of(warehouse, "e", "offline", WRITTEN))
    found = measure_contamination(points).select("of", "n_articles", "slope_per_30_days", "reason")
    assert found.rows() == [
        (VALUE, 2, None, "fewer than 3 pairs of values"),
        (LESS_OTHERS, 0, None, "fewer than 3 pairs of values"),
    ]
