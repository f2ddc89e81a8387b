"""Rating how much a report is about each keyword, by a model."""

from collections.abc import Sequence
from typing import Any

from tasks.judges.decisions import JudgeAnswer
from tasks.judges.forms.keywords import KeywordRatings
from tasks.judges.llm.requests import PromptedModel, make_answer, make_open_answer
from tasks.judges.research import RateKeywords
from tasks.judges.text import collapse_whitespace
from tasks.models.gateway import Outcome


async def rate_keywords(model: PromptedModel, request: RateKeywords) -> Sequence[JudgeAnswer]:
    """Answer for each keyword, all in one call."""
    n = request.n_items
    values = {
        "report": request.report,
        "keywords": [collapse_whitespace(keyword) for keyword in request.keywords],
    }
    outcome: Outcome[list[Any]] = await model.ask_items(
        request.prompt, values, KeywordRatings, "keyword", range(1, n + 1)
    )
    if outcome.value is None:
        return [make_open_answer(outcome, n)] * n
    return [make_answer(outcome, n, rating.score, rating.reason) for rating in outcome.value]
