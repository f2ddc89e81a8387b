"""An LLM judge's decisions about the claims of an answer: which are true, and how far."""

from collections.abc import Sequence
from typing import Any

from tasks.judges.decisions import NO_TRUTH, Answer, GradeValues, MatchClaims, truth_label
from tasks.judges.forms.claims import ClaimMatch, ClaimMatches, ValueGrade, ValueGrades
from tasks.judges.llm.requests import Asking, ok, still_open
from tasks.models.gateway import InvalidReply, Outcome


async def matched_claims(asking: Asking, request: MatchClaims) -> Sequence[Answer]:
    """One answer per answered claim, all in one call."""
    n, n_truths = len(request.answered), len(request.truths)
    values = {
        "question": request.question,
        "note": request.note,
        "truths": list(request.truths),
        "claims": list(request.answered),
    }

    def check(results: Sequence[Any]) -> None:
        wrong = [r.truth for r in results if not 0 <= r.truth <= n_truths]
        if wrong:
            raise InvalidReply(f"truth: {wrong[0]} is none of 0 to {n_truths}")

    outcome: Outcome[list[ClaimMatch]] = await asking.decided(
        request.prompt, values, ClaimMatches, "claim", range(1, n + 1), check
    )
    if outcome.value is None:
        return [still_open(outcome, n)] * n
    return [
        ok(
            outcome,
            n,
            truth_label(match.truth - 1) if match.truth else NO_TRUTH,
            match.reason,
            request.truths[match.truth - 1] if match.truth else None,
        )
        for match in outcome.value
    ]


async def graded_values(asking: Asking, request: GradeValues) -> Sequence[Answer]:
    """One answer per value, all in one call."""
    n = len(request.values)
    values = {
        "question": request.question,
        "note": request.note,
        "values": [value.model_dump() for value in request.values],
    }
    outcome: Outcome[list[ValueGrade]] = await asking.decided(
        request.prompt, values, ValueGrades, "item", range(1, n + 1)
    )
    if outcome.value is None:
        return [still_open(outcome, n)] * n
    return [ok(outcome, n, grade.score, grade.reason) for grade in outcome.value]
