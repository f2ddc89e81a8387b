"""A rubric of one's own: its figures counted by hand, and what no judgement may change."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.configuration.criteria import load_words_to_watch
from tasks.configuration.folders import PACKAGED
from tasks.configuration.rubrics import STYLE_FIGURES, RubricEntry, load_rubric
from tasks.extraction.shape import measure_styles
from tasks.judges.decisions import JudgeAnswer
from tasks.judges.offline.judge import OfflineJudge
from tasks.judges.questions.check_points import CheckPoints
from tasks.judges.questions.grade_items import GradeItems
from tasks.models.attachments import Attachment
from tasks.protocols.case import Case, ItemAnswer
from tasks.protocols.own_rubric import OwnRubric
from tasks.warehouse.rows import Status
from tests.tasks.protocols.framed import Told, decided, failed, ok, report, scored, value_of

ITEM_ROWS: list[dict[str, Any]] = [
    {"id": "a", "text": "It says so.", "allowed": [0, 1, 2], "weight": 3, "dimension": "one"},
    {"id": "b", "text": "It proves it.", "allowed": [-1, 0.5, 1], "dimension": "two",
     "instructions": "Give 0.5 for half."},
    {"id": "c", "text": "It cites.", "dimension": "two"},
    {"id": "k", "text": "Rain is wet.", "check": "key_point", "weight": 2},
    {"id": "s", "text": "It is short.", "check": "words", "at_most": 3},
]  # fmt: skip
RUBRIC = {"title": "Mine", "items_per_call": 2, "items": ITEM_ROWS}
GRADES = {"a": "1", "b": "0.5", "c": "1"}


def protocol(**changes: Any) -> OwnRubric:
    return OwnRubric("mine", RubricEntry.model_validate(RUBRIC | changes))


def judge(grades: dict[str, str] | None = None, point: str = "supported") -> Told:
    said = GRADES if grades is None else grades

    def graded(request: GradeItems) -> list[JudgeAnswer]:
        return [ok(said[i.id]) if i.id in said else failed() for i in request.items]

    return Told({GradeItems: graded, CheckPoints: lambda r: [ok(point)] * len(r.points)})


def case(text: str = "Rain is wet.") -> Case:
    return Case(report=report(text), query="Is rain wet?")


def figures(by: Any, of: Case | None = None, rubric: OwnRubric | None = None) -> dict[str, Any]:
    rows = scored(rubric or protocol(), of or case(), by)
    return {metric: value_of(row) for metric, row in rows.items()}


def test_the_score_is_the_weighted_mean_of_what_each_item_is_worth_by_hand() -> None:
    # a: (1-0)/2 of weight 3; b: (.5+1)/2 = .75; c: 1; k: 1 of weight 2; s: three words, 1.
    assert figures(judge()) == {
        "rubric_score": pytest.approx((1.5 + 0.75 + 1 + 2 + 1) / 8),
        "assessed_share": 1.0,
        "rubric_one": 0.5,
        "rubric_two": pytest.approx((0.75 + 1) / 2),
    }


def test_an_open_item_is_in_no_mean_and_leaves_the_figure_open() -> None:
    rows = scored(protocol(), case(), judge({"a": "1", "b": "0.5"}))
    score = rows["rubric_score"]
    assert score["numerator"] / score["n_items"] == pytest.approx((1.5 + 0.75 + 2 + 1) / 7)
    assert {m: (r["n_items"], r["n_open"]) for m, r in rows.items()} == {
        "rubric_score": (4, 1), "assessed_share": (4, 1), "rubric_one": (1, 0), "rubric_two": (1, 1)
    }  # fmt: skip
    assert rows["assessed_share"]["numerator"] == 4


def test_a_judge_is_asked_in_batches_for_allowed_values_with_each_items_instructions() -> None:
    by = judge()
    decided(protocol(), case(), by)
    graded = [request for request in by.asked if isinstance(request, GradeItems)]
    assert [[(i.id, i.allowed) for i in request.items] for request in graded] == [
        [("a", ("0", "1", "2")), ("b", ("-1", "0.5", "1"))], [("c", ("0", "1"))],
    ]  # fmt: skip
    assert [i.instructions for i in graded[0].items] == ["", "Give 0.5 for half."]
    assert {request.question for request in graded} == {"Is rain wet?"}


@pytest.mark.parametrize("label", ["omitted", "contradicted"])
def test_a_key_point_that_is_not_supported_is_worth_nothing(label: str) -> None:
    whole = figures(judge(point="supported"))["rubric_score"]
    assert figures(judge(point=label))["rubric_score"] == pytest.approx(whole - 2 / 8)


def test_what_is_counted_needs_no_judge_and_says_what_it_counted() -> None:
    nobody = Told({})
    mine = protocol()
    found = {d.item: d.answer for d in decided(mine, case("One two three four."), nobody)}
    assert found["s"].label == "outside"
    assert found["s"].reason == "counted, no judge asked: words is 4, wanted is at most 3"
    assert found["a"].status is Status.NOT_ASSESSED
    assert found["a"].reason == "not_assessed: the judge told cannot grade the items of a rubric"
    assert figures(nobody)["assessed_share"] == 0.2
    assert mine.supports(nobody)
    assert not protocol(items=ITEM_ROWS[:3]).supports(nobody)


def test_a_dimension_that_nobody_could_judge_is_null_with_the_reason() -> None:
    row = scored(protocol(), case(), Told({}))["rubric_two"]
    assert (row["numerator"], row["n_items"]) == (None, 0)
    assert row["reason"] == "not_assessed: the judge told cannot decide its items"


def test_of_a_scan_only_what_a_model_sees_is_judged() -> None:
    scan = Attachment(media_type="image/png", sha="0", n_bytes=1, n_pages=1, folder="nowhere")
    shown = Case(report=report(""), query="Is rain wet?", attachments=(scan,))
    by = judge()
    found = {d.item: d.answer.status for d in decided(protocol(), shown, by)}
    assert found["a"] is Status.OK
    assert found["k"] is found["s"] is Status.NOT_ASSESSED
    assert all(request.attachments == (scan,) for request in by.asked)


def test_the_example_runs_without_a_model_and_says_what_it_left_out() -> None:
    mine = OwnRubric("reader", load_rubric(PACKAGED / "rubrics" / "reader.yaml"))
    by = OfflineJudge()
    text = "# Rain\n\nRain is water that falls from clouds [1].\n\n## Why\n\nIt does [2].\n"
    found = {d.item: d.answer for d in decided(mine, case(text), by)}
    assert {item for item, answer in found.items() if answer.status is Status.OK} == {
        "introduction", "sections", "sources", "plain_words",
    }  # fmt: skip
    assert figures(by, case(text), mine)["assessed_share"] == 0.5


def test_every_style_figure_that_a_rubric_may_name_is_one() -> None:
    [found] = measure_styles(["Rain is wet."], load_words_to_watch())
    assert {*STYLE_FIGURES} <= found.keys()


def test_whatever_its_items_say_is_part_of_its_version_and_its_title_is_not() -> None:
    before = protocol().version
    assert protocol(title="Ours").version == before
    assert protocol(items_per_call=3).version != before
    heavier = [ITEM_ROWS[0] | {"weight": 4}, *ITEM_ROWS[1:]]
    assert protocol(items=heavier).version != before


def test_verdicts_of_items_that_the_rubric_does_not_have_are_in_no_figure() -> None:
    stray = [ItemAnswer(step="items", item="gone", answer=ok("1")),
             ItemAnswer(step="items", item="gone_too", answer=failed())]  # fmt: skip
    mine, by = protocol(), judge()
    known = decided(mine, case(), by)
    assert scored(mine, case(), by, [*known, *stray]) == scored(mine, case(), by, known)
    assert {value_of(row) for row in scored(mine, case(), by, stray).values()} == {None}


ITEMS = st.lists(
    st.tuples(st.sampled_from(["0", "1", "2", None]), st.sampled_from([0.5, 1.0, 3.0])),
    min_size=1, max_size=8,
)  # fmt: skip


def score(items: list[tuple[str | None, float]]) -> float | None:
    """The score of a rubric with such grades and weights; None: still open."""
    rows = [{"id": f"i{n}", "text": "?", "allowed": [0, 1, 2], "weight": w}
            for n, (_, w) in enumerate(items)]  # fmt: skip
    mine = OwnRubric("mine", RubricEntry.model_validate({"title": "T", "items": rows}))
    found = [
        ItemAnswer(step="items", item=f"i{n}", answer=failed() if grade is None else ok(grade))
        for n, (grade, _) in enumerate(items)
    ]
    return value_of(scored(mine, case(), judge(), found)["rubric_score"])


@settings(max_examples=25, deadline=None)
@given(ITEMS, st.randoms())
def test_the_score_lies_between_0_and_1_in_any_order_and_without_what_is_open(
    items: list[tuple[str | None, float]], chance: random.Random
) -> None:
    before = score(items)
    there = [item for item in items if item[0] is not None]
    assert (before is None) == (not there)
    if before is not None:
        assert 0 <= before <= 1
        assert score(chance.sample(items, len(items))) == pytest.approx(before)
        assert score(there) == pytest.approx(before)


@settings(max_examples=25, deadline=None)
@given(ITEMS)
def test_a_better_grade_never_lowers_the_score(items: list[tuple[str | None, float]]) -> None:
    before = score(items)
    for place, (grade, weight) in enumerate(items):
        if grade in ("0", "1"):
            better = [*items[:place], (str(int(grade) + 1), weight), *items[place + 1 :]]
            assert (score(better) or 0) > (before or 0)
