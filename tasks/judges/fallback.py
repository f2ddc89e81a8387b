"""Ask another judge about the items that a judge refuses."""

from collections.abc import Sequence

from tasks.judges.decisions import DecisionRequest, Judge, JudgeAnswer
from tasks.warehouse.rows import OPEN_STATUSES, Status


async def ask_fallback(
    fallback: Judge, request: DecisionRequest, answers: Sequence[JudgeAnswer]
) -> list[JudgeAnswer]:
    """Return the answers, with those of the fallback for the items that are blocked."""
    found = list(answers)
    refused = [i for i, answer in enumerate(answers) if answer.status is Status.BLOCKED]
    if refused:
        asked = await fallback.decide(request.select(refused))
        for index, answer in zip(refused, asked, strict=True):
            found[index] = _combine(answers[index], answer, fallback.name)
    return found


def _combine(refused: JudgeAnswer, answer: JudgeAnswer, fallback: str) -> JudgeAnswer:
    """Return what a fallback decided. Its failure leaves the item open; if it cannot decide, or
    refuses too, the item stays blocked, with both reasons."""
    changed: dict[str, object] = {"decided_by": fallback, "refused_call": refused.call_id}
    if answer.status is not Status.OK:
        changed["reason"] = f"{refused.reason}; {fallback}: {answer.reason}"
        if answer.status not in OPEN_STATUSES:
            changed["status"] = Status.BLOCKED
    return answer.model_copy(update=changed)
