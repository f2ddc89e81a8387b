"""Difficulty of categories, what goes with it, and agents over categories: by hand."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tasks.analysis.difficulty import (
    ALL,
    REPEATED,
    ArticleScores,
    correlate_difficulty,
    find_single_categories,
    load_article_scores,
    measure_difficulty,
    run_anova,
)
from tasks.analysis.protocols import Metric
from tasks.metrics.correlation import one_way_anova, pearson
from tasks.protocols.registry import get_protocol
from tasks.warehouse.store import open_warehouse
from tests.tasks import scored_articles

NOTHING: dict[str, Any] = {"created_at": None, "views": None, "links": None, "bytes": None,
                           "statements": None}  # fmt: skip


def values_of(
    categories: Mapping[str, str | None], values: Mapping[str, Mapping[str, float]], **more: Any
) -> ArticleScores:
    """more: columns of the articles, by article."""
    return ArticleScores(
        values=values,
        n_reports={(agent, article): 1 for agent, of in values.items() for article in of},
        articles={
            article: NOTHING | {"category": category}
            | {name: column[article] for name, column in more.items()}
            for article, category in categories.items()
        },
    )  # fmt: skip


CATEGORIES = {"a": "Art", "b": "Art", "c": "War", "d": "War", "e": "Maths"}
TWO = {
    "good": {"a": 0.9, "b": 0.7, "c": 0.5, "d": 0.6, "e": 0.2},
    "poor": {"a": 0.5, "b": 0.1, "c": 0.3, "d": 0.0, "e": 0.4},
}


def by_category(frame: pl.DataFrame) -> dict[str, dict[str, Any]]:
    return {row["category"]: row for row in frame.iter_rows(named=True)}


def test_a_category_is_as_difficult_as_its_articles_are_for_all_agents_the_hardest_first() -> None:
    of = values_of(CATEGORIES, TWO)
    frame = measure_difficulty(of)
    assert frame["category"].to_list() == ["Maths", "War", "Art"]
    found = by_category(frame)
    assert found["Art"]["value"] == pytest.approx((0.9 + 0.5 + 0.7 + 0.1) / 4)
    assert (found["Art"]["n_articles"], found["Art"]["n_reports"], found["Art"]["n_missing"]) == (
        2, 4, 0,
    )  # fmt: skip
    assert found["Maths"]["n_articles"] == 1
    assert find_single_categories(of) == ["Maths"]
    lower = measure_difficulty(of, "lower")
    assert lower["category"].to_list() == ["Art", "War", "Maths"], "high is hard there"


def test_who_is_missing_is_counted_and_the_figure_without_him_stands_beside() -> None:
    values = {"good": TWO["good"], "poor": {"a": 0.5, "c": 0.3, "d": 0.0, "e": 0.4}}
    art = by_category(measure_difficulty(values_of(CATEGORIES, values)))["Art"]
    # The article that only the better agent has counts no more than the other one.
    assert art["value"] == pytest.approx(((0.9 + 0.5) / 2 + 0.7) / 2)
    assert (art["n_reports"], art["n_missing"], art["n_articles"]) == (3, 1, 2)
    assert (art["value_complete"], art["n_complete"]) == (pytest.approx(0.7), 1)


def test_articles_without_a_category_are_in_none() -> None:
    of = values_of({"a": "Art", "b": None}, {"good": {"a": 0.5, "b": 0.9}})
    assert measure_difficulty(of).select("category", "value").rows() == [("Art", 0.5)]
    assert measure_difficulty(values_of({"a": None}, {"good": {"a": 1.0}})).is_empty()


def test_covariates_are_means_over_articles_that_say_them() -> None:
    views = {"a": 100.0, "b": 300.0, "c": None, "d": 50.0, "e": None}
    found = by_category(measure_difficulty(values_of(CATEGORIES, TWO, views=views)))
    shown = {name: (row["views"], row["n_views"]) for name, row in found.items()}
    assert shown == {"Art": (200.0, 2), "War": (50.0, 1), "Maths": (None, 0)}


def test_difficulty_is_correlated_with_category_means_not_with_articles() -> None:
    categories = {f"{name}{n}": name for name in "pqrs" for n in range(ord(name) - 110)}
    figures = {"p": (0.2, 10.0), "q": (0.5, 40.0), "r": (0.4, 20.0), "s": (0.9, 70.0)}
    values = {"one": {article: figures[name][0] for article, name in categories.items()}}
    views = {article: figures[name][1] for article, name in categories.items()}
    table = correlate_difficulty(measure_difficulty(values_of(categories, values, views=views)))
    by_name = {row["covariate"]: row for row in table.iter_rows(named=True)}
    expected = pearson([(views, value) for value, views in figures.values()])
    assert by_name["views"]["r"] == pytest.approx(expected.r)
    assert by_name["views"]["n_categories"] == 4
    assert by_name["bytes"]["r"] is None
    assert by_name["bytes"]["reason"] == "no article of the edition records its size in bytes"


def test_an_agent_s_deviations_from_the_category_are_tested_with_and_without_single_articles() -> (
    None
):
    rows = {
        (row["agent"], row["categories"]): row
        for row in run_anova(values_of(CATEGORIES, TWO)).iter_rows(named=True)
    }
    # Means: Art .55, War .35, Maths .3.
    deviations = {"Art": [0.35, 0.15], "War": [0.15, 0.25], "Maths": [-0.1]}
    every = one_way_anova(deviations)
    row = rows["good", ALL]
    assert row["f"] == pytest.approx(every.f)
    assert row["eta_squared"] == pytest.approx(every.eta_squared)
    assert (row["n_articles"], row["n_categories"], row["n_single"]) == (5, 3, 1)
    assert (row["df_between"], row["df_within"]) == (2, 2)
    less = one_way_anova({name: deviations[name] for name in ("Art", "War")})
    row = rows["good", REPEATED]
    assert (row["f"], row["p"]) == (pytest.approx(less.f), pytest.approx(less.p))
    assert (row["n_articles"], row["n_categories"], row["n_single"]) == (4, 2, 0)
    # Two agents deviate by the same, to either side.
    assert row["p_adjusted"] == pytest.approx(rows["poor", REPEATED]["p"])


def test_an_agent_that_is_alone_deviates_from_nobody() -> None:
    found = run_anova(values_of(CATEGORIES, {"good": TWO["good"]}))
    assert found["f"].is_null().all()
    assert {reason.split(",")[0] for reason in found["reason"]} == {"there is only one agent"}


def test_agents_that_are_alike_everywhere_have_no_variance_left_by_rounding() -> None:
    alike = dict.fromkeys(CATEGORIES, 0.1)
    found = run_anova(values_of(CATEGORIES, {"one": alike, "two": alike, "three": alike}))
    assert set(found["reason"]) == {"all values are the same"}


def test_they_are_read_from_the_warehouse_with_statements_counted(tmp_path: Path) -> None:
    writing = Metric("wiki_writing", get_protocol("wiki_writing").metrics[0])
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        scored_articles.articles(
            warehouse, ("Art", "Art", None), views=[5, None, 7], statements=[3, 0, 2]
        )
        given: dict[tuple[str, str], scored_articles.Values] = {
            scored_articles.WRITING: {"a": (0.5, 0.7, 0.1), "b": (0.2, None, None)},
                 scored_articles.COVERAGE: {"a": (0.0, 0.0, 0.0)}}  # fmt: skip
        scored_articles.scored(warehouse, given)
        scored_articles.scored(warehouse, {scored_articles.WRITING: {"a": (1.0,)}}, judge="other")
        of = load_article_scores(warehouse, "e", "offline", writing)
        assert load_article_scores(warehouse, "e", "offline", None).values == {}
    assert of.values == {"a": {"x0": 0.5, "x1": 0.7, "x2": 0.1}, "b": {"x0": 0.2}}
    assert [of.articles[f"x{n}"]["statements"] for n in range(3)] == [3, None, 2]
    assert measure_difficulty(of).select(
        "category", "n_articles", "n_reports", "n_missing"
    ).rows() == [("Art", 2, 3, 1)]
