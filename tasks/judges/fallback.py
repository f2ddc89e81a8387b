"""Ask another judge about the items that a judge refuses."""

import asyncio
from collections.abc import Sequence

from tasks.judges.decisions import DecisionRequest, Judge, JudgeAnswer
from tasks.warehouse.rows import OPEN_STATUSES, Status


async def ask_fallback(
    fallback: Judge, request: DecisionRequest, answers: Sequence[JudgeAnswer]
) -> list[JudgeAnswer]:
    """Return the answers, with those of the fallback for the items that are blocked.

    It is asked about each refused call on its own: what it has answered is then bought once, also
    if the judge refuses more of them in a later run.
    """
    found, refused = list(answers), dict[str | None, list[int]]()
    for index, answer in enumerate(answers):
        if answer.status is Status.BLOCKED:
            refused.setdefault(answer.call_id, []).append(index)
    asked = await asyncio.gather(
        *(fallback.decide(request.select(indices)) for indices in refused.values())
    )
    for indices, theirs in zip(refused.values(), asked, strict=True):
        for index, answer in zip(indices, theirs, strict=True):
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
