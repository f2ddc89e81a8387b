"""Rating a report by a model, by all criteria in one call."""

from collections.abc import Sequence

from tasks.judges.decisions import JudgeAnswer
from tasks.judges.forms.support import Rating, Ratings
from tasks.judges.llm.requests import PromptedModel, make_answer, make_open_answer
from tasks.judges.research import RateReport
from tasks.models.gateway import Outcome


async def rate_report(model: PromptedModel, request: RateReport) -> Sequence[JudgeAnswer]:
    """Answer for each criterion."""
    n = request.n_items
    values = {
        "question": request.question,
        "report": request.report,
        "criteria": [criterion.model_dump() for criterion in request.criteria],
    }
    outcome: Outcome[list[Rating]] = await model.ask_items(
        request.prompt, values, Ratings, "criterion", [c.id for c in request.criteria]
    )
    if outcome.value is None:
        return [make_open_answer(outcome, n)] * n
    return [make_answer(outcome, n, rating.score, rating.reason) for rating in outcome.value]
