"""F1 of a probe: same words need no call, the rest is matched by the judge, failures stay open."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.inversion.probes import ProbeScore, score_probe
from tasks.judges.decisions import StepAnswer
from tasks.judges.questions.answer_question import FoundAnswer
from tasks.warehouse.rows import Status
from tasks.warehouse.truths import TruthClaim
from tests.tasks.inversion.scripted import ScriptedInverter, failed

TRUTHS = (
    TruthClaim(
        value="Łódź",
        also=("Lodsch",),
        sub_claims=(
            TruthClaim(name="year", value="1820"),
            TruthClaim(name="river", value="Łódka"),
        ),
    ),
    TruthClaim(value="Vienna"),
)


def answer(value: str, **subs: str) -> FoundAnswer:
    return FoundAnswer(value=value, sub_claims=tuple(subs.items()))


def figure(*found: FoundAnswer, pairs: Any = ()) -> tuple[StepAnswer[ProbeScore], ScriptedInverter]:
    matcher = ScriptedInverter(match_claims=pairs)
    said, _ = asyncio.run(score_probe("Which town?", TRUTHS, found, matcher))
    return said, matcher


def f1(*found: FoundAnswer, pairs: Any = ()) -> float:
    said, _ = figure(*found, pairs=pairs)
    assert said.value is not None
    return said.value.f1


def test_the_same_words_are_matched_without_a_call() -> None:
    said, matcher = figure(answer("lodsch", year="1820", River="lodka"), answer("the Vienna"))
    assert said.value == ProbeScore(1.0, 2)
    assert matcher.asked == []


def test_what_is_missing_and_what_is_wrong_cost() -> None:
    assert f1(answer("Łódź", year="1820", river="Łódka")) == pytest.approx(2 / 3)
    # Precision 1/2 of its sub-claims, recall (1/2 + 0) / 2.
    assert f1(answer("Łódź", year="1820", river="Oder")) == pytest.approx(1 / 3)


def test_a_value_under_another_name_is_another_claim() -> None:
    said, matcher = figure(answer("Łódź", born="1820"))
    assert matcher.requests("match_claims")[-1].answered == ("born: 1820",)
    assert said.value == ProbeScore(0.0, 1)


def test_the_judge_is_asked_for_what_is_left_and_its_calls_are_kept() -> None:
    matcher = ScriptedInverter(match_claims=(("The Polish Manchester", "Vienna"),))
    found = (answer("Lodz"), answer("The Polish Manchester"))
    said, calls = asyncio.run(score_probe("Which town?", TRUTHS, found, matcher))
    (request,) = matcher.requests("match_claims")
    assert (request.truths, request.answered) == (("Vienna",), ("The Polish Manchester",))
    assert said.value is not None
    assert said.value.n_main == 2
    assert calls == ("call-match",)


def test_two_answers_that_state_one_truth_count_once() -> None:
    said, _ = figure(answer("Vienna"), answer("vienna"))
    assert said.value is not None
    assert said.value.n_main == 1
    assert said.value.f1 == pytest.approx(1 / 2)


def test_no_answer_is_worth_nothing_and_asks_nobody() -> None:
    said, matcher = figure()
    assert said.value == ProbeScore(0.0, 0)
    assert matcher.asked == []


def test_without_a_truth_there_is_no_figure() -> None:
    said, _ = asyncio.run(score_probe("Which?", (), (answer("x"),), ScriptedInverter()))
    assert (said.status, said.value) == (Status.NOT_ASSESSED, None)


@pytest.mark.parametrize("status", [Status.JUDGE_ERROR, Status.UNPARSABLE, Status.BLOCKED])
def test_a_failure_of_the_judge_is_no_figure(status: Status) -> None:
    said, _ = figure(answer("Somewhere"), pairs=failed(status))
    assert (said.status, said.value) == (status, None)


def test_a_label_that_nobody_asked_for_is_no_figure() -> None:
    class Odd(ScriptedInverter):
        async def decide(self, request: Any) -> Any:
            from tasks.judges.decisions import JudgeAnswer

            return [JudgeAnswer(status=Status.OK, label="truth:7")]

    said, _ = asyncio.run(score_probe("Which?", TRUTHS, (answer("Somewhere"),), Odd()))
    assert said.status is Status.UNPARSABLE
    assert "'truth:7'" in str(said.reason)


VALUES = st.sampled_from(["Łódź", "Vienna", "Oder", "1820", ""])
FOUND = st.lists(
    st.builds(
        FoundAnswer,
        value=VALUES,
        sub_claims=st.lists(st.tuples(st.sampled_from(["year", "river"]), VALUES)).map(tuple),
    ),
    max_size=5,
)


@given(FOUND)
def test_a_figure_is_a_share_and_main_claims_are_not_counted_twice(
    found: list[FoundAnswer],
) -> None:
    said, _ = figure(*found)
    assert said.value is not None
    assert 0 <= said.value.f1 <= 1
    assert said.value.n_main <= min(len(found), len(TRUTHS))
