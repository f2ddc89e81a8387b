"""A model grades rubric items and keywords, as many in one call as the protocol asks for."""

from collections.abc import Sequence
from typing import Any

from tasks.judges.decisions import JudgeAnswer
from tasks.judges.forms.verdicts import ItemGrade, ItemGrades, KeywordRatings
from tasks.judges.llm.attachments import find_attachment_problem
from tasks.judges.llm.requests import PromptedModel, Said, make_answers
from tasks.judges.research import GradeItems, RateKeywords, RubricItem
from tasks.judges.text import collapse_whitespace
from tasks.models.gateway import InvalidReply
from tasks.warehouse.rows import Status


async def grade_items(model: PromptedModel, request: GradeItems) -> list[JudgeAnswer]:
    """Answer for each item, all in one call; a missing item or a value that is not allowed makes
    the whole answer unusable."""
    n = request.n_items
    names = [item.text if request.echo else item.id for item in request.items]
    allowed = {name: item.allowed for name, item in zip(names, request.items, strict=True)}
    values: dict[str, Any] = {
        "question": request.question,
        "report": request.report,
        "items": [_template_item(item, request.echo) for item in request.items],
        "blocked": request.blocked.model_dump() if request.blocked else None,
        "echo": request.echo,
    }
    attached = None
    if request.attachments:
        if reason := find_attachment_problem(model.name, model.reads, request.attachments):
            said = f"not_assessed: the report is no text; {reason}"
            return [JudgeAnswer(status=Status.NOT_ASSESSED, reason=said)] * n
        attached = model.attach(request.attachments, request.prompt)
        values["report"] = attached.placeholder
    elif request.pictures:
        attached = model.attach_pictures(request.pictures)

    def check(results: Sequence[ItemGrade]) -> None:
        for result in results:
            if result.score not in allowed[result.item]:
                raise InvalidReply(
                    f"score: {result.score[:40]!r} of item {result.item[:40]!r} is none of "
                    f"{', '.join(allowed[result.item])}"
                )

    scores = tuple(dict.fromkeys(value for item in request.items for value in item.allowed))
    outcome = await model.ask_items(
        request.prompt,
        values,
        ItemGrades,
        "item",
        names,
        check,
        attachments=attached,
        allowed_values={"score": scores},
    )
    return make_answers(
        outcome, n, lambda grade: Said(grade.score, grade.reason, grade.evidence.strip() or None)
    )


def _template_item(item: RubricItem, echo: bool) -> dict[str, Any]:
    """Return an item for the prompt's template; without its id if the text identifies it."""
    shown = item.model_dump() | {"allowed": ", ".join(item.allowed)}
    return shown | {"id": ""} if echo else shown


async def rate_keywords(model: PromptedModel, request: RateKeywords) -> list[JudgeAnswer]:
    """Answer for each keyword, all in one call."""
    n = request.n_items
    values = {
        "report": request.report,
        "keywords": [collapse_whitespace(keyword) for keyword in request.keywords],
    }
    outcome = await model.ask_items(
        request.prompt, values, KeywordRatings, "keyword", range(1, n + 1)
    )
    return make_answers(outcome, n, lambda rating: Said(rating.score, rating.reason))
