"""A model compares two articles, or scores them."""

from collections.abc import Sequence
from typing import Any

from tasks.judges.decisions import FIRST, SECOND, TIE, CompareArticles, JudgeAnswer
from tasks.judges.forms.verdicts import (
    CriterionVerdict,
    CriterionVerdictOrTie,
    CriterionVerdicts,
    CriterionVerdictsOrTies,
    PairScore,
    PairScores,
)
from tasks.judges.llm.attachments import find_attachment_problem
from tasks.judges.llm.requests import PromptedModel, Said, make_answers
from tasks.judges.research import ScorePair
from tasks.models.gateway import InvalidReply
from tasks.warehouse.rows import Status

MAX_SCORE = 10


async def score_pair(model: PromptedModel, request: ScorePair) -> list[JudgeAnswer]:
    """Return two answers per criterion, the report's first, regardless of the articles' order."""
    n = len(request.criteria)
    texts = (request.report, request.reference)
    values = {
        "task": request.task,
        "first": texts[0] if request.report_first else texts[1],
        "second": texts[1] if request.report_first else texts[0],
        "criteria": [criterion.model_dump() for criterion in request.criteria],
    }
    ids = [criterion.id for criterion in request.criteria]
    outcome = await model.ask_items(
        request.prompt, values, PairScores, "criterion", ids, _check_scores
    )
    first = make_answers(outcome, n, lambda said: Said(f"{said.score_1:g}", said.reason))
    second = make_answers(outcome, n, lambda said: Said(f"{said.score_2:g}", said.reason))
    pairs = zip(first, second, strict=True)
    return [answer for pair in pairs for answer in (pair if request.report_first else pair[::-1])]


def _check_scores(results: Sequence[PairScore]) -> None:
    for said in results:
        for score in (said.score_1, said.score_2):
            if not 0 <= score <= MAX_SCORE:
                raise InvalidReply(
                    f"criterion {said.criterion[:40]!r}: {score} is not 0 to {MAX_SCORE}"
                )


WINNERS = {"article_1": FIRST, "article_2": SECOND, "tie": TIE}


async def compare_articles(model: PromptedModel, request: CompareArticles) -> list[JudgeAnswer]:
    """Answer for each criterion, all in one call."""
    n = request.n_items
    ids = [criterion.id for criterion in request.criteria]
    form: Any = CriterionVerdictsOrTies if request.allow_tie else CriterionVerdicts
    values = {
        "first": request.first,
        "second": request.second,
        "criteria": [criterion.model_dump() for criterion in request.criteria],
        "category": request.title or request.category,
        "description": request.description,
        "topic": request.topic,
        "subject_area": request.subject_area,
        "area_description": request.area_description,
        "allow_tie": request.allow_tie,
    }
    attached = None
    if request.attached:
        if reason := find_attachment_problem(model.name, model.reads, request.attachments):
            said = f"not_assessed: the article is no text; {reason}"
            return [JudgeAnswer(status=Status.NOT_ASSESSED, reason=said)] * n
        attached = model.attach(request.attachments, request.prompt)
        values[request.attached] = attached.placeholder
    outcome = await model.ask_items(
        request.prompt, values, form, "criterion", ids, attachments=attached
    )

    def read(verdict: CriterionVerdict | CriterionVerdictOrTie) -> Said:
        return Said(WINNERS[verdict.winner], verdict.reason)

    return make_answers(outcome, n, read)
