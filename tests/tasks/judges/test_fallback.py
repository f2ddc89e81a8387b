"""A fallback is asked about what its judge refuses, and about nothing else."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import pytest

from tasks.judges.decisions import CONSISTENT, Judge, JudgeAnswer
from tasks.judges.llm.judge import ask_fallback
from tasks.judges.questions.verify_claims import VerifyClaims
from tasks.warehouse.rows import Status

OK = JudgeAnswer(status=Status.OK, label=CONSISTENT, call_id="own")


class Fallback:
    """Answers everything alike; remembers what it was asked."""

    name = "second"

    def __init__(self, answer: JudgeAnswer) -> None:
        self.answer = answer
        self.asked: list[tuple[str, ...]] = []

    async def decide(self, request: VerifyClaims) -> Sequence[JudgeAnswer]:
        self.asked.append(request.claims)
        return [self.answer] * request.n_items


def asked(fallback: Fallback, *answers: JudgeAnswer) -> list[JudgeAnswer]:
    claims = tuple("abcdef"[: len(answers)])
    request = VerifyClaims(claims=claims, pool=("s",), retrieved=((0,),) * len(claims), subject="t")
    return asyncio.run(ask_fallback(cast(Judge, cast(Any, fallback)), request, answers))


def refused(call: str) -> JudgeAnswer:
    return JudgeAnswer(status=Status.BLOCKED, reason="no", call_id=call)


def test_only_what_is_refused_is_asked_each_call_apart() -> None:
    others = [JudgeAnswer(status=status) for status in Status if status is not Status.BLOCKED]
    second = Fallback(JudgeAnswer(status=Status.OK, label=CONSISTENT, call_id="theirs"))
    found = asked(second, refused("1"), refused("2"), refused("1"), OK)
    assert sorted(second.asked) == [("a", "c"), ("b",)]
    assert [answer.decided_by for answer in found] == ["second"] * 3 + [None]
    assert [answer.refused_call for answer in found] == ["1", "2", "1", None]
    assert [answer.call_id for answer in found] == ["theirs"] * 3 + ["own"]
    assert asked(second, *others) == others
    assert len(second.asked) == 2


@pytest.mark.parametrize(
    ("theirs", "became"),
    [
        (Status.OK, Status.OK),
        (Status.BLOCKED, Status.BLOCKED),
        (Status.NOT_ASSESSED, Status.BLOCKED),
        (Status.JUDGE_ERROR, Status.JUDGE_ERROR),
        (Status.UNPARSABLE, Status.UNPARSABLE),
    ],
)
def test_its_failure_is_open_and_what_it_cannot_decide_stays_blocked(
    theirs: Status, became: Status
) -> None:
    [found] = asked(Fallback(JudgeAnswer(status=theirs, reason="neither")), refused("1"))
    assert found.status is became
    if theirs is not Status.OK:
        assert found.reason == "no; second: neither"
