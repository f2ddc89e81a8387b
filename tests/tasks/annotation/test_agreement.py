"""Judges beside each other, beside people, and beside what they cost."""

from pathlib import Path

import pytest

from tasks.annotation.agreement import compare_judges_and_people
from tasks.annotation.labels import (
    PeopleLabels,
    load_labels,
    make_preference_tables,
    read_label_file,
)
from tasks.annotation.sheets import import_labels, make_annotation_sheet
from tasks.annotation.table import AnnotationError
from tasks.editions.names import UnknownName
from tasks.warehouse.calls import Call
from tasks.warehouse.rows import Status
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tests.tasks.annotated import AGENT, ARTICLE, OTHER, fill, judged, score, warehouse
from tests.tasks.made_rows import a_row

__all__ = ["warehouse"]

NOBODY = PeopleLabels({})
ITEMS = [("neutral", "n_1"), ("neutral", "n_2"), ("broad_coverage", "bc_1"), ("neutral", "n_3")]


def said(*labels: str) -> dict[tuple[str, str], str]:
    return dict(zip(ITEMS, labels, strict=False))


def people(**labels: dict[tuple[str, str], str]) -> PeopleLabels:
    return PeopleLabels(
        {
            name: {("wiki_writing", step, AGENT, ARTICLE, item): label
                   for (step, item), label in given.items()}
            for name, given in labels.items()
        }
    )  # fmt: skip


def call(call_id: str, cost: float | None) -> Call:
    of = {"call_id": call_id, "request_id": call_id, "judge": "llm", "protocol": "wiki_writing"}
    return a_row(Call, **of, cost_usd=cost)


def test_two_judges_are_compared_step_by_step_and_over_all(warehouse: Warehouse) -> None:
    judged(warehouse, "one", said("reference", "report", "report"))
    judged(warehouse, "two", said("reference", "reference", "report", "tie"))
    rows = compare_judges_and_people(warehouse, "sample", NOBODY).between_judges.rows(named=True)
    assert [(r["step"], r["judge_a"], r["judge_b"], r["n_items"]) for r in rows] == [
        ("broad_coverage", "one", "two", 1),
        ("neutral", "one", "two", 2),
        ("all", "one", "two", 3),
    ]
    assert [r["alike"] for r in rows] == [1.0, 0.5, pytest.approx(2 / 3)]
    assert rows[0]["kappa"] is None


def test_figures_have_intervals_by_assignment_where_there_are_five(warehouse: Warehouse) -> None:
    for n in range(6):
        same = said("reference", "report", "tie", "tie")
        other = said("reference", *("report" if n < 3 else "tie" for _ in range(3)))
        judged(warehouse, "one", same, assignment=f"x{n}")
        judged(warehouse, "two", other, assignment=f"x{n}")
    found = compare_judges_and_people(warehouse, "sample", NOBODY).between_judges
    rows = {row["step"]: row for row in found.rows(named=True)}
    whole = rows["all"]
    assert (whole["n_items"], whole["n_assignments"]) == (24, 6)
    assert whole["alike_low"] < whole["alike"] < whole["alike_high"]
    assert whole["kappa_low"] < whole["kappa"] < whole["kappa_high"]
    criteria = rows["broad_coverage"]
    assert criteria["alike"] == 0.5
    assert criteria["alike_low"] < 0.5 < criteria["alike_high"]
    one = compare_judges_and_people(warehouse, "sample", NOBODY, ["wiki_writing"], ["one"])
    assert one.between_judges.is_empty()


def test_verdicts_that_are_not_ok_count_nowhere(warehouse: Warehouse) -> None:
    judged(warehouse, "one", said("reference"))
    judged(warehouse, "two", said("reference"), status=Status.JUDGE_ERROR)
    found = compare_judges_and_people(warehouse, "sample", NOBODY)
    assert found.between_judges.is_empty()
    assert found.judges["judge"].to_list() == ["one"]


def test_par_is_the_share_of_criteria_on_which_judge_and_people_name_the_same_winner(
    warehouse: Warehouse,
) -> None:
    judged(warehouse, "one", said("reference", "report", "report", "reference"))
    ann = said("reference", "report", "reference", "report")
    bob = said("reference", "report", "report", "reference")
    found = compare_judges_and_people(warehouse, "sample", people(ann=ann, bob=bob))
    (row,) = found.judges.rows(named=True)
    assert (row["n_decided"], row["n_with_people"], row["alike"]) == (4, 2, 1.0)
    whole = found.with_people.filter(step="all").rows(named=True)
    assert [(r["person"], r["n_items"], r["alike"], r["n_tied"]) for r in whole] == [
        ("majority", 2, 1.0, 2),
        ("ann", 4, 0.5, None),
        ("bob", 4, 1.0, None),
    ]
    assert found.between_people.filter(step="all")["alike"].to_list() == [0.5]


def test_the_offline_judge_is_compared_by_what_it_decides_and_null_by_the_rest(
    warehouse: Warehouse,
) -> None:
    judged(warehouse, "offline", {("coverage", "fact:0"): "consistent"}, protocol="wiki_fact")
    key = ("wiki_fact", "coverage", AGENT, ARTICLE, "fact:0")
    ann = people(ann=said("reference")).labels["ann"] | {key: "inconsistent"}
    found = compare_judges_and_people(warehouse, "sample", PeopleLabels({"ann": ann}))
    rows = {row["protocol"]: row for row in found.judges.iter_rows(named=True)}
    decided, other = rows["wiki_fact"], rows["wiki_writing"]
    assert (decided["n_with_people"], decided["alike"], decided["usd_per_article"]) == (1, 0, 0)
    assert (other["judge"], other["n_with_people"], other["alike"]) == ("offline", 0, None)
    assert found.n_unmatched == 1


@pytest.mark.parametrize(("cost", "shown"), [(0.25, 0.25), (None, None)])
def test_a_judge_costs_what_its_calls_cost_and_unknown_where_a_price_is(
    warehouse: Warehouse, cost: float | None, shown: float | None
) -> None:
    warehouse.write(Change(Call, [call("c1", cost)]))
    judged(warehouse, "llm", said("reference"), call_id="c1")
    judged(warehouse, "recorded", said("reference"))
    found = compare_judges_and_people(warehouse, "sample", NOBODY).judges
    assert dict(found.select("judge", "usd_per_article").iter_rows()) == {
        "llm": shown,
        "recorded": None,
    }


def test_protocols_and_judges_can_be_chosen(warehouse: Warehouse) -> None:
    judged(warehouse, "one", said("reference"))
    judged(warehouse, "two", said("reference"))
    judged(warehouse, "one", {("coverage", "fact:0"): "consistent"}, protocol="wiki_fact")
    found = compare_judges_and_people(warehouse, "sample", NOBODY, ["wiki_fact"], ["one"])
    assert found.judges.select("protocol", "judge").rows() == [("wiki_fact", "one")]
    with pytest.raises(UnknownName, match=r"no judge 'x'. Known: .*offline"):
        compare_judges_and_people(warehouse, "sample", NOBODY, judges=["x"])
    with pytest.raises(UnknownName, match=r"no protocol 'x'. Known: .*wiki_fact"):
        compare_judges_and_people(warehouse, "sample", NOBODY, protocols=["x"])


def test_an_empty_edition_gives_empty_tables(warehouse: Warehouse) -> None:
    found = compare_judges_and_people(warehouse, "sample", NOBODY)
    assert found.judges.is_empty()
    assert found.with_people.is_empty()
    assert make_preference_tables(warehouse, "sample", NOBODY).metrics.is_empty()


def test_labels_of_other_people_come_from_a_csv(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(
        "assignment,agent,protocol,step,item,label,annotator\n"
        f"{ARTICLE},{AGENT},wiki_writing,neutral,n_1,report,ann\n"
        f"{ARTICLE},{AGENT},wiki_writing,neutral,n_1,tie,\n"
        f"{ARTICLE},{AGENT},wiki_writing,neutral,n_2,,ann\n",
        "utf-8",
    )
    key = ("wiki_writing", "neutral", AGENT, ARTICLE, "n_1")
    assert read_label_file(path).labels == {"ann": {key: "report"}, "people": {key: "tie"}}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("wiki_writing,neutral,n_1,first", "row 3, column label: expected reference, report, tie"),
        ("wiki_fact,citation,claim:1 u,consistent", "expected support, not_support, conflict"),
        ("wiki_writing,neutral,n_9,tie", "row 3, column label: a row above has “report”"),
    ],
)
def test_labels_that_cannot_be_are_told_by_row(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(
        "assignment,agent,protocol,step,item,label\n"
        f"a,b,wiki_writing,neutral,n_9,report\na,b,{line}\n",
        "utf-8",
    )
    with pytest.raises(AnnotationError, match=message):
        read_label_file(path)


def test_forced_choices_give_kappas_win_rates_and_what_each_metric_is_worth(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    sheet = make_annotation_sheet(warehouse, "sample", "reports", [AGENT, OTHER], 3, 0)
    for name in ("ann", "bob", "cy"):
        import_labels(warehouse, fill(sheet, tmp_path / "f.csv", OTHER), name)
    import_labels(warehouse, fill(sheet, tmp_path / "f.csv", AGENT), "dan")
    by_agent = {AGENT: 0.1, OTHER: 0.9}
    warehouse.write(
        Change(
            type(score("j", "wiki_fact", AGENT, "m", 0)),
            [
                score("j", "wiki_fact", agent, metric, value, assignment=item.assignment)
                for item in sheet.items
                for agent, value in by_agent.items()
                for metric in ("coverage_wiki", "leakage_rate")
            ]
            + [score("j", "wiki_fact", AGENT, "ref_acc", 0.1)],
        )
    )
    found = make_preference_tables(warehouse, "sample", load_labels(warehouse, "sample"))
    assert found.people.height == 6
    assert found.people.filter(person_a="ann", person_b="bob")["alike"].to_list() == [1.0]
    assert found.agents.rows() == [(OTHER, 3, 3, 1.0), (AGENT, 3, 0, 0.0)]
    metrics = {row["metric"]: row for row in found.metrics.iter_rows(named=True)}
    assert (metrics["coverage_wiki"]["n_items"], metrics["coverage_wiki"]["alike"]) == (3, 1.0)
    assert metrics["leakage_rate"]["alike"] == 0.0  # lower is better there
    assert (metrics["ref_acc"]["n_items"], metrics["ref_acc"]["alike"]) == (0, None)
    assert metrics["ref_acc"]["n_left_out"] == 3


def test_tied_forced_choices_are_left_out_and_counted(warehouse: Warehouse, tmp_path: Path) -> None:
    sheet = make_annotation_sheet(warehouse, "sample", "reports", [AGENT, OTHER], 2, 0)
    for name, agent in (("ann", AGENT), ("bob", OTHER)):
        import_labels(warehouse, fill(sheet, tmp_path / "f.csv", agent), name)
    found = make_preference_tables(warehouse, "sample", load_labels(warehouse, "sample"))
    assert (found.n_tied, found.agents.height) == (2, 0)
