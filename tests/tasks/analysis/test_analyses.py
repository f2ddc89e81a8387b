"""The analyses of an edition together: what is analysed, and what is said of it."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, get_args

import pytest

from tasks.analysis import difficulty, trends
from tasks.analysis import leakage as flaws
from tasks.analysis.analyses import TABLES, Analysis, run_analyses
from tasks.costs import editions as analysis_costs
from tasks.editions.names import UnknownName
from tasks.warehouse.store import Warehouse
from tests.tasks.scored_articles import COVERAGE, FIRST, WRITING, Values, articles, scored

CATEGORIES = ("Art", "Art", "War", "War", "Maths", None)
GOOD = (0.5, 0.7, 0.4, 0.1, 0.3, 0.2)
POOR = (0.1, 0.2, 0.3, None, 0.2, 0.1)
SCHEMAS: dict[str, dict[str, Any]] = {
    "difficulty": difficulty.DIFFICULTY, "correlation": difficulty.CORRELATION,
    "anova": difficulty.ANOVA, "leakage": flaws.FIGURES, "conflict": flaws.FIGURES,
    "cost": analysis_costs.COST, "judging": analysis_costs.JUDGING, "trend": trends.TREND,
    "contamination": trends.CONTAMINATION, "ages": trends.AGES,
}  # fmt: skip


@pytest.fixture
def warehouse(warehouse: Warehouse) -> Warehouse:
    articles(warehouse, CATEGORIES)
    return warehouse


def given(warehouse: Warehouse, *metrics: tuple[str, str]) -> None:
    values: Mapping[tuple[str, str], Values] = {m: {"good": GOOD, "poor": POOR} for m in metrics}
    scored(warehouse, values)


def test_every_frame_has_its_schema_with_and_without_values(warehouse: Warehouse) -> None:
    scored(warehouse, {WRITING: {"good": (None,)}})
    for metrics in ((), (WRITING, COVERAGE)):
        if metrics:
            given(warehouse, *metrics)
        found = run_analyses(warehouse, "e", "offline")
        assert {name for names in TABLES.values() for name in names} == SCHEMAS.keys()
        for name, schema in SCHEMAS.items():
            frame = getattr(found, name)
            assert [(n, kind.base_type()) for n, kind in frame.schema.items()] == [*schema.items()]
        assert found.remarks.keys() == TABLES.keys() == {*get_args(Analysis)}


def test_writing_is_analysed_where_it_can_be_then_coverage_then_what_there_is(
    warehouse: Warehouse,
) -> None:
    conflict = ("wiki_fact", "wiki_conflict")
    chosen = []
    for metric in (conflict, COVERAGE, WRITING):
        given(warehouse, metric)
        taken = run_analyses(warehouse, "e", "offline").metric
        assert taken is not None
        chosen.append(taken.key)
    assert chosen == [conflict, COVERAGE, WRITING]
    named = run_analyses(warehouse, "e", "offline", protocol="wiki_fact").metric
    assert named is not None
    assert named.key == COVERAGE
    other = run_analyses(warehouse, "e", "offline", metric="wiki_conflict")
    assert other.difficulty["category"][0] == "Art", "high is hard there"
    assert "a high value means a hard category" in " ".join(other.remarks["difficulty"])


def test_a_metric_without_values_is_said_to_have_none(warehouse: Warehouse) -> None:
    scored(warehouse, {WRITING: {"good": (None, None)}})
    found = run_analyses(warehouse, "e", "offline")
    assert found.metric is None
    [said] = found.remarks["difficulty"]
    assert said == "No metric has a value by the judge offline for a report on an article."
    [said] = run_analyses(warehouse, "e", "offline", "wiki_writing").remarks["difficulty"]
    assert said.startswith("wiki_writing/writing_overall has no value")


def test_what_is_unknown_is_named_with_what_there_is(warehouse: Warehouse) -> None:
    with pytest.raises(UnknownName, match="no edition 'f'"):
        run_analyses(warehouse, "f", "offline")
    given(warehouse, COVERAGE)
    with pytest.raises(UnknownName, match="no figures of the judge 'other'"):
        run_analyses(warehouse, "e", "other")
    with pytest.raises(UnknownName, match="no figures of the protocol 'race'"):
        run_analyses(warehouse, "e", "offline", "race")
    with pytest.raises(UnknownName, match=r"no metric 'f1'; these have figures: wiki_fact: cov"):
        run_analyses(warehouse, "e", "offline", metric="f1")


def test_remarks_say_who_is_missing_what_is_left_out_and_which_categories_have_one_article(
    warehouse: Warehouse,
) -> None:
    given(warehouse, WRITING)
    articles(warehouse, (*CATEGORIES[:-1], "unknown"))
    found = run_analyses(warehouse, "e", "offline")
    said = " ".join(found.remarks["difficulty"])
    assert "Missing values: 1." in said
    assert found.difficulty["category"].sort().to_list() == ["Art", "Maths", "War"]
    assert "Left out because their category is not known: 1 article." in said
    assert "Categories with one article: Maths." in " ".join(found.remarks["anova"])
    assert "needs two editions" in found.remarks["trend"][0]
    articles(warehouse, ("Art",), "later", created_at=[FIRST + timedelta(days=99)])
    scored(warehouse, {WRITING: {"good": (0.9,)}}, "later")
    found = run_analyses(warehouse, "e", "offline")
    assert not any("needs two" in remark for remark in found.remarks["trend"])
    assert found.trend.filter(agent="good")["edition"].to_list() == ["e", "later"]


def test_leakage_and_conflict_stand_with_what_they_count_and_why_they_are_null(
    warehouse: Warehouse,
) -> None:
    leak, conflict = ("wiki_fact", "leakage_rate"), ("wiki_fact", "wiki_conflict")
    values: Mapping[tuple[str, str], Values] = {
        leak: {"good": (0.5, 0.1), "poor": (0.0, None)},
        conflict: {"fair": (0.5, 0.1), "good": (None,)},
    }  # fmt: skip
    scored(warehouse, values)
    found = run_analyses(warehouse, "e", "offline")
    columns = ("metric", "agent", "value", "numerator", "n_items", "n_reports")
    assert found.leakage.select(columns).rows() == [
        ("leakage_rate", "good", pytest.approx(7 / 30), pytest.approx(7), 30, 2),
        ("leakage_rate", "poor", 0.0, 0.0, 10, 1),
    ]
    assert found.conflict.select(columns).rows() == [
        ("wiki_conflict", "fair", pytest.approx(0.3), pytest.approx(7), 30, 2),
        ("wiki_conflict", "good", None, None, 0, 0),
    ]
    assert found.remarks["conflict"] == ("wiki_conflict: no value for one agent: nothing there.",)
    assert found.remarks["leakage"] == ()
