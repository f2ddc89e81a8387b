"""Metrics side by side: what each rests on, how they agree, and that nothing is averaged."""

from typing import Any

import pytest

from tasks.analysis.protocols import NO_OVERALL, ProtocolComparison, compare_headline_metrics
from tasks.editions.names import UnknownName
from tasks.warehouse.store import Warehouse
from tests.tasks.scored_articles import COVERAGE, WRITING, articles, scored


@pytest.fixture
def warehouse(warehouse: Warehouse) -> Warehouse:
    articles(warehouse, ())
    return warehouse


def compared(warehouse: Warehouse, **more: Any) -> ProtocolComparison:
    return compare_headline_metrics(warehouse, "e", "offline", **more)


def pair(found: ProtocolComparison, first: str, second: str) -> dict[str, object]:
    [row] = [
        row
        for row in found.pairs.iter_rows(named=True)
        if {row["metric"], row["other_metric"]} == {first, second}
    ]
    return row


CONFLICT = ("wiki_fact", "wiki_conflict")


def test_agents_stand_beside_each_other_with_what_each_figure_rests_on(
    warehouse: Warehouse,
) -> None:
    scored(warehouse, {COVERAGE: {"a": (0.5, 0.7), "b": (0.1, None)}, WRITING: {"a": (1.0, 0.0)}})
    found = compared(warehouse)
    shown = {(r["metric"], r["agent"]): (r["value"], r["n_reports"])
             for r in found.agents.iter_rows(named=True)}  # fmt: skip
    assert shown == {
        ("coverage_wiki", "a"): (pytest.approx(0.6), 2), ("coverage_wiki", "b"): (0.1, 1),
        ("writing_overall", "a"): (pytest.approx(1 / 3), 2), ("writing_overall", "b"): (None, 0),
    }  # fmt: skip
    assert NO_OVERALL in found.remarks


def test_a_metric_that_is_better_when_lower_is_turned(warehouse: Warehouse) -> None:
    scored(
        warehouse,
        {COVERAGE: {"a": (0.1,), "b": (0.2,), "c": (0.3,)},
         CONFLICT: {"a": (0.9,), "b": (0.5,), "c": (0.1,)},
         WRITING: {"a": (0.1,), "b": (0.2,), "c": (0.3,)}},
    )  # fmt: skip
    found = compared(warehouse)
    for metric, other in (("coverage_wiki", "wiki_conflict"), ("wiki_conflict", "writing_overall")):
        row = pair(found, metric, other)  # the one that is turned stands second, then first
        assert (row["metric"], row["n"]) == (metric, 3)
        assert (row["spearman"], row["kendall"]) == (pytest.approx(1), pytest.approx(1))


def test_agents_are_compared_by_the_reports_that_both_metrics_have_judged(
    warehouse: Warehouse,
) -> None:
    # By all its reports c is best by coverage; by the one that was compared as well, it is worst.
    scored(
        warehouse,
        {COVERAGE: {"a": (0.2,), "b": (0.3,), "c": (0.1, 0.9)},
         WRITING: {"a": (0.2,), "b": (0.3,), "c": (0.1, None)}},
    )  # fmt: skip
    row = pair(compared(warehouse), "coverage_wiki", "writing_overall")
    assert (row["spearman"], row["n"], row["n_reports"]) == (pytest.approx(1), 3, 3)
    whole = compared(warehouse, same_reports=False)
    # Ranks 1 2 3 and 2 3 1: rho = 1 - 6·6/(3·8).
    assert pair(whole, "coverage_wiki", "writing_overall")["spearman"] == pytest.approx(-0.5)


def test_reports_can_be_put_in_order_instead_of_agents(warehouse: Warehouse) -> None:
    scored(
        warehouse,
        {COVERAGE: {"a": (0.1, 0.2, 0.4)}, WRITING: {"a": (0.1, 0.3, 0.5), "b": (0.9,)}},
    )
    row = pair(
        compared(warehouse, over="reports"),
        *(COVERAGE[1], WRITING[1]),
    )
    assert (row["n"], row["spearman"]) == (3, pytest.approx(1))
    few = pair(compared(warehouse), COVERAGE[1], WRITING[1])
    assert (few["n"], few["spearman"], few["reason"]) == (1, None, "fewer than 3 pairs of values")


def test_open_items_leave_a_figure_provisional_and_a_metric_without_values_is_named(
    warehouse: Warehouse,
) -> None:
    scored(warehouse, {COVERAGE: {"a": (0.5,)}, WRITING: {"a": (None,)}}, n_open=1)
    found = compared(warehouse)
    [row] = found.agents.iter_rows(named=True)
    assert row["provisional"]
    assert any("Nothing to compare" in remark for remark in found.remarks)
    assert found.remarks[-1].startswith(
        "Left out because they have no value by this judge: wiki_fact/"
    )
    assert "wiki_writing/writing_overall" in found.remarks[-1]


def test_metrics_that_count_partial_support_differently_are_said_to(warehouse: Warehouse) -> None:
    scored(warehouse, {("wiki_fact", "ref_acc"): {"a": (0.5,)}})
    assert not any("in part" in remark for remark in compared(warehouse).remarks)
    scored(warehouse, {("fact", "valid_rate"): {"a": (0.5,)}})
    [said] = [remark for remark in compared(warehouse).remarks if "in part" in remark]
    assert "counts as supported in FACT, as not supported in Wiki Fact" in said


def test_who_has_no_scores_is_told_where_there_are_some(warehouse: Warehouse) -> None:
    with pytest.raises(UnknownName, match="has no scores by the judge 'offline'"):
        compared(warehouse)
    scored(warehouse, {COVERAGE: {"a": (0.5,)}})
    with pytest.raises(
        UnknownName, match=r"no scores of 'race' by the judge 'offline'. Known: wiki_fact"
    ):
        compared(warehouse, protocols=["race"])
    with pytest.raises(UnknownName, match="no edition 'f'"):
        compare_headline_metrics(warehouse, "f", "j")
