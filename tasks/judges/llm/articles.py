"""Two articles put to a model, to be compared by the criteria of one category."""

from collections.abc import Sequence
from typing import Any

from tasks.judges.decisions import FIRST, SECOND, TIE, Answer, CompareArticles
from tasks.judges.forms.replies import CriterionVerdicts, CriterionVerdictsOrTies
from tasks.judges.llm.attachments import why_not_shown
from tasks.judges.llm.requests import Asking, ok, still_open
from tasks.models.gateway import Outcome
from tasks.warehouse.rows import Status

WINNERS = {"article_1": FIRST, "article_2": SECOND, "tie": TIE}


async def compared_articles(asking: Asking, request: CompareArticles) -> Sequence[Answer]:
    """One answer per criterion, all in one call."""
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
        if reason := why_not_shown(asking.judge, asking.reads, request.attachments):
            said = f"not_assessed: the article is no text; {reason}"
            return [Answer(status=Status.NOT_ASSESSED, reason=said)] * n
        attached = asking.attached(request.attachments, request.prompt)
        values[request.attached] = attached.instead
    outcome: Outcome[list[Any]] = await asking.decided(
        request.prompt, values, form, "criterion", ids, beside=attached
    )
    if outcome.value is None:
        return [still_open(outcome, n)] * n
    return [ok(outcome, n, WINNERS[verdict.winner], verdict.reason) for verdict in outcome.value]
