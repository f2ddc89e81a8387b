"""What a judge refuses is narrowed to a request of its own, and the answers are told apart."""

import asyncio
from collections.abc import Sequence

import pytest

from tasks.judges.decisions import Criterion, DecisionRequest, JudgeAnswer, VerifyClaims
from tasks.judges.fallback import ask_fallback
from tasks.judges.research import ScorePair
from tasks.warehouse.rows import Status
from tests.scripted_judge import ScriptedJudge

OK = JudgeAnswer(status=Status.OK, label="consistent")
REFUSED = JudgeAnswer(status=Status.BLOCKED, reason="refused", call_id="mine")
ASKED = VerifyClaims(claims=("a", "b", "c"), pool=("a", "x", "c"), retrieved=((0,), (1,), (2,)))


class Answering(ScriptedJudge):
    """Gives this answer to everything."""

    def __init__(self, answer: JudgeAnswer) -> None:
        super().__init__()
        self.answer = answer

    async def decide(self, request: DecisionRequest) -> Sequence[JudgeAnswer]:
        self.asked.append(request)
        return [self.answer] * request.n_items


def asked(fallback: ScriptedJudge, *answers: JudgeAnswer) -> list[JudgeAnswer]:
    return asyncio.run(ask_fallback(fallback, ASKED, answers))


def test_refused_items_alone_are_asked_with_the_same_evidence() -> None:
    fallback = ScriptedJudge()
    first, second, third = asked(fallback, OK, REFUSED, REFUSED)
    assert first is OK
    assert [(a.label, a.decided_by, a.refused_call) for a in (second, third)] == [
        ("not_support", "scripted", "mine"), ("consistent", "scripted", "mine"),
    ]  # fmt: skip
    assert fallback.asked == [
        ASKED.model_copy(update={"claims": ("b", "c"), "retrieved": ((1,), (2,))})
    ]


def test_where_nothing_is_refused_nobody_is_asked() -> None:
    fallback = ScriptedJudge()
    assert asked(fallback, OK, OK, JudgeAnswer(status=Status.UNPARSABLE))[:2] == [OK, OK]
    assert not fallback.asked


@pytest.mark.parametrize(
    ("theirs", "becomes"),
    [
        (Status.BLOCKED, Status.BLOCKED),
        (Status.NOT_ASSESSED, Status.BLOCKED),
        (Status.JUDGE_ERROR, Status.JUDGE_ERROR),
        (Status.UNPARSABLE, Status.UNPARSABLE),
    ],
)
def test_without_an_answer_an_item_stays_blocked_or_is_open_with_both_reasons(
    theirs: Status, becomes: Status
) -> None:
    fallback = Answering(JudgeAnswer(status=theirs, reason="because"))
    *_, found = asked(fallback, OK, OK, REFUSED)
    assert (found.status, found.reason) == (becomes, "refused; scripted: because")
    assert found.decided_by == "scripted"


def test_a_criterion_of_a_pair_is_asked_for_both_articles() -> None:
    criteria = tuple(Criterion(id=name, text=name) for name in "abc")
    pair = ScorePair(task="t", report="r", reference="w", criteria=criteria)
    assert [each.id for each in pair.select([2, 3]).criteria] == ["b"]
    assert pair.select([2, 3]).n_items == 2
