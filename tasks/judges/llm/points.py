"""A model decides for DeepResearchGym: key points, and quality of reports; and it grades rubric
items and keywords, as many in one call as the protocol asks for."""

from collections.abc import Sequence
from typing import Any

from tasks.judges.batches import ask_first_alone, split_batches
from tasks.judges.decisions import JudgeAnswer, StepAnswer
from tasks.judges.forms.steps import ReplyMergedPoints, ReplyPoints
from tasks.judges.forms.verdicts import (
    ItemGrade,
    ItemGrades,
    KeywordRatings,
    PointVerdicts,
    Ratings,
)
from tasks.judges.llm.attachments import find_attachment_problem
from tasks.judges.llm.requests import PromptedModel, Said, make_answers
from tasks.judges.research import (
    CheckPoints,
    ExtractKeyPoints,
    FoundKeyPoint,
    GradeItems,
    MergedKeyPoint,
    MergeKeyPoints,
    RateKeywords,
    RateReport,
    RubricItem,
)
from tasks.judges.text import collapse_whitespace, occurs_in, verify_quote
from tasks.models.gateway import InvalidReply
from tasks.warehouse.rows import Status


async def check_points(model: PromptedModel, request: CheckPoints) -> list[JudgeAnswer]:
    """Answer for each point. The first call is sent alone, so that the report is in the provider's
    cache for the others."""

    async def check(points: Sequence[str]) -> list[JudgeAnswer]:
        n = len(points)
        values = {
            "question": request.question,
            "report": request.report,
            "points": [collapse_whitespace(point) for point in points],
        }
        outcome = await model.ask_items(
            request.prompt, values, PointVerdicts, "point", range(1, n + 1)
        )
        return make_answers(
            outcome,
            n,
            lambda said: Said(
                said.verdict, said.reason, verify_quote(said.passage, request.report)
            ),
        )

    return await ask_first_alone(check, split_batches(request.points, model.entry.claims_per_call))


async def extract_points(
    model: PromptedModel, request: ExtractKeyPoints
) -> StepAnswer[tuple[FoundKeyPoint, ...]]:
    """Extract the points of one document.

    An answer is unusable if no span of its points stands in the document; the spans of each single
    point are not checked here.
    """

    return await model.answer_step(
        request,
        ReplyPoints,
        lambda reply: tuple(
            FoundKeyPoint(text=text, spans=tuple(stated.spans))
            for stated in reply.points
            if (text := collapse_whitespace(stated.point))
        ),
        lambda reply: _validate_spans(reply, request.document),
    )


async def merge_points(
    model: PromptedModel, request: MergeKeyPoints
) -> StepAnswer[tuple[MergedKeyPoint, ...]]:
    """Merge points; an answer that loses a point, or names an unknown one, is unusable."""

    return await model.answer_step(
        request,
        ReplyMergedPoints,
        lambda reply: tuple(
            MergedKeyPoint(
                text=collapse_whitespace(stated.point),
                merged_from=tuple(sorted({*stated.merged_from})),
            )
            for stated in reply.points
        ),
        lambda reply: _validate_merge(reply, len(request.points)),
        points=[collapse_whitespace(point) for point in request.points],
    )


def _validate_spans(reply: ReplyPoints, document: str) -> None:
    spans = {span for stated in reply.points if stated.point.strip() for span in stated.spans}
    if reply.points and not any(occurs_in(span, document) for span in spans):
        raise InvalidReply(
            f"spans: no span stands in the document, word for word ({len(spans)} given)"
        )


def _validate_merge(reply: ReplyMergedPoints, n_points: int) -> None:
    named = {number for point in reply.points for number in point.merged_from}
    asked = set(range(1, n_points + 1))
    if wrong := sorted(named - asked):
        raise InvalidReply(f"merged_from: {wrong[0]} is none of 1 to {n_points}")
    if lost := sorted(asked - named):
        raise InvalidReply(f"merged_from: {lost[0]} is in no point ({len(lost)} of {n_points})")
    if any(not point.merged_from or not point.point.strip() for point in reply.points):
        raise InvalidReply("points: one has no text, or is merged from nothing")


async def rate_report(model: PromptedModel, request: RateReport) -> list[JudgeAnswer]:
    """Answer for each criterion."""
    ids = [criterion.id for criterion in request.criteria]
    outcome = await model.ask_items(
        request.prompt, request.template_values(), Ratings, "criterion", ids
    )
    return make_answers(outcome, len(ids), lambda rating: Said(rating.score, rating.reason))


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
    elif pictures := tuple(each for each in request.pictures if each.media_type in model.reads):
        attached = model.attach_pictures(pictures)  # a fallback may read fewer than its judge

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
