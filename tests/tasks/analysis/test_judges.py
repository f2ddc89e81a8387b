"""Two judges of the same reports: what they say alike, what differs, what that does to figures."""

import pytest

from tasks.analysis.judges import (
    ReportSelection,
    choose_other_judge,
    compare_judges,
    find_judged_protocols,
    select_figures,
    select_reports,
)
from tasks.editions.names import UnknownName
from tasks.warehouse.results import Score, Verdict
from tasks.warehouse.rows import Status
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tests.tasks.annotated import warehouse
from tests.tasks.made_rows import a_row

__all__ = ["warehouse"]

OLD, NEW = "offline", "local"
AGENT = "sample_blogger"
MERCURY, BRIDGES = "Mercury_(planet)", "Seven_Bridges_of_Königsberg"
YES, NO = "consistent", "not_support"


def judged(warehouse: Warehouse, judge: str, assignment: str, *labels: str | None) -> None:
    """Coverage of one report: its verdicts (None: the judge gave no answer) and its score."""
    of = {"edition": "sample", "agent": AGENT, "assignment": assignment, "judge": judge}
    of["cell_id"] = f"{judge} {assignment}"
    verdicts = [
        a_row(Verdict, **of, step="coverage", item=f"fact:{number}", label=label,
              status=Status.OK if label else Status.JUDGE_ERROR)
        for number, label in enumerate(labels)
    ]  # fmt: skip
    n, covered = len(labels) - labels.count(None), float(labels.count(YES))
    score = a_row(Score, **of, value=covered / n, numerator=covered, n_items=n)
    warehouse.write(Change(Verdict, verdicts), Change(Score, [score]))


def pending(warehouse: Warehouse, judge: str, assignment: str) -> None:
    of = {"edition": "sample", "agent": AGENT, "assignment": assignment, "judge": judge}
    warehouse.write(Change(Score, [a_row(Score, **of, value=None, state="pending")]))


def test_only_items_that_both_decided_are_compared(warehouse: Warehouse) -> None:
    judged(warehouse, OLD, MERCURY, YES, NO, YES, None)
    judged(warehouse, NEW, MERCURY, YES, YES, None, NO)
    found = compare_judges(warehouse, ReportSelection("sample"), OLD, NEW)
    assert found.agreement.select("step", "n_items", "alike").rows() == [("coverage", 2, 0.5)]
    assert found.changed.select("item", "before", "after").rows() == [("fact:1", NO, YES)]
    assert (found.only_before, found.only_after) == (1, 1)


def test_what_a_fallback_decided_is_no_agreement_of_the_judge(warehouse: Warehouse) -> None:
    judged(warehouse, OLD, MERCURY, YES, NO)
    judged(warehouse, NEW, MERCURY, YES, NO)
    [taken_over] = warehouse.rows(Verdict, "judge = $1 AND item = 'fact:1'", [NEW])
    changed = taken_over.model_copy(update={"decided_by": OLD})
    warehouse.write(
        Change(Verdict, [changed], replacing={"cell_id": changed.cell_id, "item": changed.item})
    )
    found = compare_judges(warehouse, ReportSelection("sample"), OLD, NEW)
    assert found.agreement["n_items"].to_list() == [1]
    assert (found.only_before, found.only_after) == (1, 0)


def test_a_report_that_the_other_judge_has_judged_is_exchanged_in_the_figure(
    warehouse: Warehouse,
) -> None:
    judged(warehouse, OLD, MERCURY, YES, NO)
    judged(warehouse, OLD, BRIDGES, NO, NO)
    judged(warehouse, NEW, MERCURY, YES, YES)
    pending(warehouse, NEW, BRIDGES)
    chosen = ReportSelection("sample", (AGENT,), (MERCURY,), ("wiki_fact",))
    [row] = compare_judges(warehouse, chosen, OLD, NEW).figures.iter_rows(named=True)
    assert (row["before"], row["before_reports"], row["before_items"]) == (0.25, 2, 4)
    assert (row["after"], row["after_reports"], row["after_items"]) == (1.0, 1, 2)
    assert (row["exchanged"], row["change"]) == (0.5, 0.25)


def test_where_the_other_judge_has_judged_everything_the_exchanged_figure_is_its_own(
    warehouse: Warehouse,
) -> None:
    for assignment, mine, theirs in ((MERCURY, NO, YES), (BRIDGES, YES, NO)):
        judged(warehouse, OLD, assignment, mine, YES)
        judged(warehouse, NEW, assignment, theirs, YES, YES)
    [row] = compare_judges(warehouse, ReportSelection("sample"), OLD, NEW).figures.iter_rows(
        named=True
    )
    assert row["exchanged"] == row["after"]


def test_a_judge_that_gives_no_such_figure_changes_none(warehouse: Warehouse) -> None:
    judged(warehouse, OLD, MERCURY, YES)
    pending(warehouse, NEW, MERCURY)
    found = compare_judges(warehouse, ReportSelection("sample"), OLD, NEW)
    [row] = found.figures.iter_rows(named=True)
    assert (row["before"], row["after"], row["exchanged"], row["change"]) == (1.0, None, None, None)
    assert found.agreement.is_empty()
    assert select_figures(found, ["coverage_wiki"]).height == 1
    assert select_figures(found, ["ref_acc"]).is_empty()


def test_the_same_judge_twice_agrees_with_itself_and_changes_nothing(
    warehouse: Warehouse,
) -> None:
    judged(warehouse, OLD, MERCURY, YES, NO)
    found = compare_judges(warehouse, ReportSelection("sample"), OLD, OLD)
    assert found.agreement["alike"].to_list() == [1.0]
    assert found.changed.is_empty()
    assert found.figures["change"].to_list() == [0.0]


def test_the_default_judge_is_compared_with_unless_another_is_named(warehouse: Warehouse) -> None:
    with pytest.raises(UnknownName, match="No other judge than"):
        choose_other_judge(warehouse, "sample", NEW, None)
    judged(warehouse, "gpt-5", MERCURY, YES)
    assert choose_other_judge(warehouse, "sample", NEW, None) == "gpt-5"
    judged(warehouse, OLD, MERCURY, YES)
    assert choose_other_judge(warehouse, "sample", NEW, None) == OLD
    assert choose_other_judge(warehouse, "sample", NEW, "gpt-5") == "gpt-5"
    with pytest.raises(UnknownName, match="itself"):
        choose_other_judge(warehouse, "sample", NEW, NEW)
    with pytest.raises(
        UnknownName, match=r"gpt-4 has judged nothing.* --against. Did you mean gpt-5"
    ):
        choose_other_judge(warehouse, "sample", NEW, "gpt-4")


def test_only_protocols_by_which_the_reports_were_judged_are_compared(
    warehouse: Warehouse,
) -> None:
    judged(warehouse, OLD, MERCURY, YES)
    assert find_judged_protocols(warehouse, ReportSelection("sample"), OLD) == ("wiki_fact",)
    with pytest.raises(UnknownName, match="judged none of these reports"):
        find_judged_protocols(warehouse, ReportSelection("sample", assignments=(BRIDGES,)), OLD)
    chosen, other = select_reports(warehouse, "sample", NEW, None, [AGENT], None, None)
    assert (chosen, other) == (ReportSelection("sample", (AGENT,), (), ("wiki_fact",)), OLD)
    with pytest.raises(UnknownName, match="sample_scholar"):
        select_reports(warehouse, "sample", NEW, None, ["nobody"], None, None)


def test_agreement_over_few_assignments_has_no_interval(warehouse: Warehouse) -> None:
    judged(warehouse, OLD, MERCURY, YES, NO)
    judged(warehouse, NEW, MERCURY, YES, YES)
    [row] = compare_judges(warehouse, ReportSelection("sample"), OLD, NEW).agreement.iter_rows(
        named=True
    )
    assert (row["n_assignments"], row["kappa_low"], row["kappa_high"]) == (1, None, None)
