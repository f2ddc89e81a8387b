"""RACE on small cases whose figures can be counted by hand."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.configuration.models import load_protocol
from tasks.judges.decisions import JudgeAnswer
from tasks.judges.questions.score_pair import ScorePair
from tasks.protocols.case import Case
from tasks.protocols.race import BOTH_ZERO, EMPTY, NO_WEIGHT, Race
from tasks.warehouse.rows import Article
from tasks.warehouse.rubrics import BundleSettings, Rubric, make_rubric_bundle
from tests.tasks.protocols.framed import Told, decided, failed, ok, report, scored, value_of

PROTOCOL = Race(load_protocol("race"))
ARTICLE = Article(edition="e", article="x", title="Rain", url="", text="Rain [1].", text_sha="0")
OWN = (("insight-1", "insight", 0.25, "8", "6"), ("insight-2", "insight", 0.75, "4", "8"),
       ("readability-1", "readability", 1.0, "9", "6"))  # fmt: skip


def rubric(item: str, dimension: str, weight: float, *_: str) -> Rubric:
    return Rubric(
        edition="e", assignment="x", protocol="race", number=0, item=item, dimension=dimension,
        text=f"Does it {item}?", allowed="[]", points=10, weight=weight, explanation="Or not.",
    )  # fmt: skip


def case(*, own: bool = True) -> Case:
    rubrics = tuple(rubric(*row) for row in OWN) if own else ()
    weights = BundleSettings(dimension_weights={"insight": 0.6, "readability": 0.4})
    return Case(
        article=ARTICLE, report=report("Rain falls [2]."), query="Why does it rain?",
        rubric=rubrics, bundle=make_rubric_bundle(rubrics, weights, "published") if own else None,
    )  # fmt: skip


SCORES = {item: (ours, theirs) for item, _, _, ours, theirs in OWN}


def judge(scores: dict[str, tuple[str, str]] | None = None) -> Told:
    """Scores by criterion; others fail, or all are 5 against 5."""

    def scored(request: ScorePair) -> list[JudgeAnswer]:
        return [
            answer
            for criterion in request.criteria
            for answer in (
                [failed()] * 2
                if scores is not None and criterion.id not in scores
                else map(ok, (scores or {}).get(criterion.id, ("5", "5")))
            )
        ]

    return Told({ScorePair: scored})


def figures(by: Any, of: Case, protocol: Race = PROTOCOL) -> dict[str, dict[str, Any]]:
    return scored(protocol, of, by)


def test_figures_are_the_report_s_share_of_both_totals_by_hand() -> None:
    by = judge(SCORES)
    found = {metric: value_of(row) for metric, row in figures(by, case()).items()}
    total, reference = 0.6 * 5 + 0.4 * 9, 0.6 * 7.5 + 0.4 * 6
    assert found == {
        "race_overall": pytest.approx(total / (total + reference)),
        "race_insight": pytest.approx(5 / 12.5),
        "race_readability": pytest.approx(9 / 15),
        "race_comprehensiveness": None,
        "race_instruction_following": None,
    }


def test_the_judge_sees_task_and_both_texts_without_apparatus_and_every_criterion_at_once() -> None:
    by = judge(SCORES)
    decided(PROTOCOL, case(), by)
    [asked] = by.asked
    assert (asked.task, asked.report, asked.reference) == (
        "Why does it rain?", "Rain falls.", "Rain.",
    )  # fmt: skip
    assert asked.report_first
    assert [c.id for c in asked.criteria] == [row[0] for row in OWN]
    assert asked.criteria[0].text == "Does it insight-1?: Or not."


def test_without_criteria_of_its_own_an_article_is_scored_by_general_ones() -> None:
    by = judge()
    of = case(own=False)
    found = figures(by, of)
    assert len(by.asked[0].criteria) == found["race_overall"]["n_items"] == 12
    assert {row["numerator"] / row["n_items"] for row in found.values()} == {0.5}


def test_a_criterion_that_is_open_is_in_no_figure_and_leaves_them_open() -> None:
    found = figures(judge({"insight-2": ("4", "8"), "readability-1": ("9", "6")}), case())
    insight = found["race_insight"]
    assert (insight["numerator"], insight["n_items"], insight["n_open"]) == (
        pytest.approx(1 / 3), 1, 1,
    )  # fmt: skip
    assert (found["race_overall"]["n_open"], found["race_readability"]["n_open"]) == (1, 0)


@given(
    st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=3, max_size=3),
    st.sets(st.sampled_from(sorted(SCORES))),
    st.permutations(range(3)),
)
def test_figures_are_shares_of_what_was_decided_in_any_order(
    given_scores: list[tuple[int, int]], failing: set[str], order: list[int]
) -> None:
    """A criterion that is open changes no figure: they are as if the rubric did not have it."""
    ids = [row[0] for row in OWN]
    scores = {i: (str(a), str(b)) for i, (a, b) in zip(ids, given_scores, strict=True)}
    scores = {i: pair for i, pair in scores.items() if i not in failing}
    of = case()
    shuffled = of.model_copy(update={"rubric": tuple(of.rubric[n] for n in order)})
    fewer = of.model_copy(update={"rubric": tuple(r for r in of.rubric if r.item in scores)})
    found = figures(judge(scores), shuffled)
    for metric, row in found.items():
        assert row["numerator"] is None or 0 <= row["numerator"] <= row["n_items"]
        assert (row["numerator"] is None) == (row["n_items"] == 0)
        if scores:
            without = figures(judge(scores), fewer)[metric]
            assert row["numerator"] == pytest.approx(without["numerator"])
            assert row["n_items"] == without["n_items"]


def test_a_score_without_its_counterpart_is_no_pair() -> None:
    """A failed answer about the reference must not count as a reference worth 0."""

    def half(request: ScorePair) -> list[JudgeAnswer]:
        return [answer for _ in request.criteria for answer in (ok("4"), failed())]

    found = figures(Told({ScorePair: half}), case())
    overall = found["race_overall"]
    assert (overall["numerator"], overall["n_items"], overall["n_open"]) == (None, 0, 3)


def test_where_nothing_was_decided_or_all_is_zero_the_figure_is_null_and_says_why() -> None:
    assert {row["reason"] for row in figures(judge({}), case()).values()} == {EMPTY}
    zeros = figures(judge(dict.fromkeys(SCORES, ("0", "0"))), case())
    assert (zeros["race_overall"]["numerator"], zeros["race_overall"]["reason"]) == (
        None, BOTH_ZERO,
    )  # fmt: skip


@pytest.mark.parametrize("of_criteria", [True, False])
def test_where_no_criterion_has_weight_the_figure_says_so(of_criteria: bool) -> None:
    of = case()
    rubrics = tuple(
        one.model_copy(update={"weight": 0.0 if of_criteria else one.weight}) for one in of.rubric
    )
    weights = BundleSettings(dimension_weights=dict.fromkeys(("insight", "readability"),
                                                             float(of_criteria)))  # fmt: skip
    bundle = make_rubric_bundle(rubrics, weights, "published")
    found = figures(judge(SCORES), of.model_copy(update={"rubric": rubrics, "bundle": bundle}))
    overall = found["race_overall"]
    assert (overall["numerator"], overall["reason"]) == (None, NO_WEIGHT)
    assert (found["race_insight"]["reason"] == NO_WEIGHT) == of_criteria


def test_both_orders_are_asked_for_where_wanted_and_averaged() -> None:
    entry = load_protocol("race")
    parameters = {"parameters": entry.parameters | {"order": "both"}}
    both = Race(entry.model_copy(update=parameters))

    def by_place(request: ScorePair) -> list[JudgeAnswer]:
        """Whichever stands first gets 8, the other 4."""
        ours, theirs = ("8", "4") if request.report_first else ("4", "8")
        return [answer for _ in request.criteria for answer in (ok(ours), ok(theirs))]

    by = Told({ScorePair: by_place})
    assert {request.report_first for request in by.asked} == set()
    found = figures(by, case(), both)
    assert {request.report_first for request in by.asked} == {True, False}
    overall = found["race_overall"]
    assert (overall["numerator"] / overall["n_items"], overall["n_items"]) == (0.5, 6)
