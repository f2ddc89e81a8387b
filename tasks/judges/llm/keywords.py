"""Keywords put to a model with the report: how much is it about each?"""

from collections.abc import Sequence
from typing import Any

from tasks.judges.decisions import Answer
from tasks.judges.forms.keywords import KeywordRatings
from tasks.judges.llm.requests import Asking, ok, still_open
from tasks.judges.research import RateKeywords
from tasks.judges.text import one_line
from tasks.models.gateway import Outcome


async def rated_keywords(asking: Asking, request: RateKeywords) -> Sequence[Answer]:
    """One answer per keyword, all in one call."""
    n = request.n_items
    values = {
        "report": request.report,
        "keywords": [one_line(keyword) for keyword in request.keywords],
    }
    outcome: Outcome[list[Any]] = await asking.decided(
        request.prompt, values, KeywordRatings, "keyword", range(1, n + 1)
    )
    if outcome.value is None:
        return [still_open(outcome, n)] * n
    return [ok(outcome, n, rating.score, rating.reason) for rating in outcome.value]
