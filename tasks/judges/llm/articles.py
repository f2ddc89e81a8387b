"""Comparing two articles by the criteria of one category, by a model."""

from collections.abc import Sequence
from typing import Any

from tasks.judges.decisions import FIRST, SECOND, TIE, CompareArticles, JudgeAnswer
from tasks.judges.forms.wiki import CriterionVerdicts, CriterionVerdictsOrTies
from tasks.judges.llm.attachments import find_attachment_problem
from tasks.judges.llm.requests import PromptedModel, make_answer, make_open_answer
from tasks.models.gateway import Outcome
from tasks.warehouse.rows import Status

WINNERS = {"article_1": FIRST, "article_2": SECOND, "tie": TIE}


async def compare_articles(model: PromptedModel, request: CompareArticles) -> Sequence[JudgeAnswer]:
    """Answer for each criterion, all in one call."""
    n = request.n_items
    ids = [criterion.id for criterion in request.criteria]
    form: Any = CriterionVerdictsOrTies if request.allow_tie else CriterionVerdicts
    values = {
        "first": request.first,
        "second": request.second,
        "criteria": [criterion.model_dump() for criterion in request.criteria],
        "allow_tie": request.allow_tie,
    }
    attached = None
    if request.attached:
        if reason := find_attachment_problem(model.judge, model.reads, request.attachments):
            said = f"not_assessed: the article is no text; {reason}"
            return [JudgeAnswer(status=Status.NOT_ASSESSED, reason=said)] * n
        attached = model.attach(request.attachments, request.prompt)
        values[request.attached] = attached.placeholder
    outcome: Outcome[list[Any]] = await model.ask_items(
        request.prompt, values, form, "criterion", ids, attachments=attached
    )
    if outcome.value is None:
        return [make_open_answer(outcome, n)] * n
    return [
        make_answer(outcome, n, WINNERS[verdict.winner], verdict.reason)
        for verdict in outcome.value
    ]
