"""An LLM judge's decisions about the claims of an answer: which are true, and how far."""

from collections.abc import Sequence

from tasks.judges.decisions import NO_TRUTH, GradeValues, JudgeAnswer, MatchClaims, truth_label
from tasks.judges.forms.verdicts import ClaimMatch, ClaimMatches, ValueGrades
from tasks.judges.llm.requests import PromptedModel, Said, make_answers
from tasks.models.gateway import InvalidReply


async def match_claims(model: PromptedModel, request: MatchClaims) -> list[JudgeAnswer]:
    """Answer for each answered claim, all in one call."""
    n, n_truths = request.n_items, len(request.truths)
    values = {
        "question": request.question,
        "note": request.note,
        "truths": list(request.truths),
        "claims": list(request.answered),
    }

    def check(results: Sequence[ClaimMatch]) -> None:
        wrong = [r.truth for r in results if not 0 <= r.truth <= n_truths]
        if wrong:
            raise InvalidReply(f"truth: {wrong[0]} is none of 0 to {n_truths}")

    def read(match: ClaimMatch) -> Said:
        if not match.truth:
            return Said(NO_TRUTH, match.reason)
        index = match.truth - 1
        return Said(truth_label(index), match.reason, request.truths[index])

    outcome = await model.ask_items(
        request.prompt, values, ClaimMatches, "claim", range(1, n + 1), check
    )
    return make_answers(outcome, n, read)


async def grade_values(model: PromptedModel, request: GradeValues) -> list[JudgeAnswer]:
    """Answer for each value, all in one call."""
    n = request.n_items
    outcome = await model.ask_items(
        request.prompt, request.template_values(), ValueGrades, "item", range(1, n + 1)
    )
    return make_answers(outcome, n, lambda grade: Said(grade.score, grade.reason))
