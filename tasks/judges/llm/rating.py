"""A report put to a model to be rated, by all criteria in one call."""

from collections.abc import Sequence

from tasks.judges.decisions import Answer
from tasks.judges.forms.support import Rating, Ratings
from tasks.judges.llm.requests import Asking, ok, still_open
from tasks.judges.research import RateReport
from tasks.models.gateway import Outcome


async def rated_report(asking: Asking, request: RateReport) -> Sequence[Answer]:
    """One answer per criterion."""
    n = request.n_items
    values = {
        "question": request.question,
        "report": request.report,
        "criteria": [criterion.model_dump() for criterion in request.criteria],
    }
    outcome: Outcome[list[Rating]] = await asking.decided(
        request.prompt, values, Ratings, "criterion", [c.id for c in request.criteria]
    )
    if outcome.value is None:
        return [still_open(outcome, n)] * n
    return [ok(outcome, n, rating.score, rating.reason) for rating in outcome.value]
