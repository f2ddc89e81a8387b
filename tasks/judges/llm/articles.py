"""A model compares two articles, and checks citations of a page."""

from collections.abc import Sequence
from typing import Any

from tasks.judges.decisions import FIRST, SECOND, TIE, CompareArticles, JudgeAnswer
from tasks.judges.forms.deepresearch import CitationVerdicts, PairScore, PairScores
from tasks.judges.forms.wiki import CriterionVerdicts, CriterionVerdictsOrTies
from tasks.judges.llm.attachments import find_attachment_problem
from tasks.judges.llm.page import verify_statements
from tasks.judges.llm.requests import PromptedModel, make_answer, make_open_answer
from tasks.judges.research import CheckCitations, ScorePair
from tasks.models.gateway import InvalidReply, Outcome
from tasks.warehouse.rows import Status

MAX_SCORE = 10


async def check_citations(model: PromptedModel, request: CheckCitations) -> Sequence[JudgeAnswer]:
    """Answer for each claim; a long page is cut to an excerpt."""
    return await verify_statements(
        model, request.prompt, request.claims, request.page, CitationVerdicts
    )


async def score_pair(model: PromptedModel, request: ScorePair) -> Sequence[JudgeAnswer]:
    """Return two answers per criterion, the report's first, regardless of the articles' order."""
    n = len(request.criteria)
    texts = (request.report, request.reference)
    values: dict[str, Any] = {
        "task": request.task,
        "first": texts[0] if request.report_first else texts[1],
        "second": texts[1] if request.report_first else texts[0],
        "criteria": [criterion.model_dump() for criterion in request.criteria],
    }
    ids = [criterion.id for criterion in request.criteria]
    outcome: Outcome[list[PairScore]] = await model.ask_items(
        request.prompt, values, PairScores, "criterion", ids, _check_scores
    )
    if outcome.value is None:
        return [make_open_answer(outcome, n)] * request.n_items
    answers = []
    for said in outcome.value:
        scores = (said.score_1, said.score_2)
        for score in scores if request.report_first else reversed(scores):
            answers.append(make_answer(outcome, n, f"{score:g}", said.reason))
    return answers


def _check_scores(results: Sequence[PairScore]) -> None:
    for said in results:
        for score in (said.score_1, said.score_2):
            if not 0 <= score <= MAX_SCORE:
                raise InvalidReply(
                    f"criterion {said.criterion[:40]!r}: {score} is not 0 to {MAX_SCORE}"
                )


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
