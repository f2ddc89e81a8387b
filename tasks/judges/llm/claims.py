"""An LLM judge's decisions about the claims of an answer: which are true, and how far."""

from collections.abc import Sequence
from typing import Any

from tasks.judges.decisions import NO_TRUTH, GradeValues, JudgeAnswer, MatchClaims, truth_label
from tasks.judges.forms.claims import ClaimMatch, ClaimMatches, ValueGrade, ValueGrades
from tasks.judges.llm.requests import PromptedModel, make_answer, make_open_answer
from tasks.models.gateway import InvalidReply, Outcome


async def match_claims(model: PromptedModel, request: MatchClaims) -> Sequence[JudgeAnswer]:
    """Answer for each answered claim, all in one call."""
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

    outcome: Outcome[list[ClaimMatch]] = await model.ask_items(
        request.prompt, values, ClaimMatches, "claim", range(1, n + 1), check
    )
    if outcome.value is None:
        return [make_open_answer(outcome, n)] * n
    return [
        make_answer(
            outcome,
            n,
            truth_label(match.truth - 1) if match.truth else NO_TRUTH,
            match.reason,
            request.truths[match.truth - 1] if match.truth else None,
        )
        for match in outcome.value
    ]


async def grade_values(model: PromptedModel, request: GradeValues) -> Sequence[JudgeAnswer]:
    """Answer for each value, all in one call."""
    n = len(request.values)
    values = {
        "question": request.question,
        "note": request.note,
        "values": [value.model_dump() for value in request.values],
    }
    outcome: Outcome[list[ValueGrade]] = await model.ask_items(
        request.prompt, values, ValueGrades, "item", range(1, n + 1)
    )
    if outcome.value is None:
        return [make_open_answer(outcome, n)] * n
    return [make_answer(outcome, n, grade.score, grade.reason) for grade in outcome.value]
