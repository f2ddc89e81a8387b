"""A model decides for DeepResearchGym: key points, support of claims, and quality of reports."""

import asyncio
from collections.abc import Sequence
from typing import Any

from tasks.judges.decisions import JudgeAnswer
from tasks.judges.forms.points import (
    PointVerdict,
    PointVerdicts,
    Rating,
    Ratings,
    ReplyMergedPoints,
    ReplyPoints,
    SupportVerdicts,
)
from tasks.judges.llm.page import verify_statements
from tasks.judges.llm.requests import PromptedModel, make_answer, make_open_answer
from tasks.judges.research import (
    CheckPoints,
    ExtractKeyPoints,
    FoundKeyPoint,
    KeyPointsAnswer,
    MergedKeyPoint,
    MergeKeyPoints,
    RateReport,
    VerifySupport,
)
from tasks.judges.text import collapse_whitespace, occurs_in, verify_quote
from tasks.models.gateway import InvalidReply, Outcome


async def check_points(model: PromptedModel, request: CheckPoints) -> Sequence[JudgeAnswer]:
    """Answer for each point. The first call is sent alone, so that the report is in the provider's
    cache for the others."""
    size = model.entry.claims_per_call
    groups = [request.points[start : start + size] for start in range(0, request.n_items, size)]
    answered = [await _check_group(model, request, points) for points in groups[:1]]
    answered += await asyncio.gather(
        *(_check_group(model, request, points) for points in groups[1:])
    )
    return [answer for answers in answered for answer in answers]


async def _check_group(
    model: PromptedModel, request: CheckPoints, points: Sequence[str]
) -> list[JudgeAnswer]:
    n = len(points)
    values: dict[str, Any] = {
        "question": request.question,
        "report": request.report,
        "points": [collapse_whitespace(point) for point in points],
    }
    outcome: Outcome[list[PointVerdict]] = await model.ask_items(
        request.prompt, values, PointVerdicts, "point", range(1, n + 1)
    )
    if outcome.value is None:
        return [make_open_answer(outcome, n)] * n
    return [
        make_answer(
            outcome, n, said.verdict, said.reason, verify_quote(said.passage, request.report)
        )
        for said in outcome.value
    ]


async def extract_points(model: PromptedModel, request: ExtractKeyPoints) -> KeyPointsAnswer:
    """Extract the points of one document.

    An answer is unusable if no span of its points stands in the document; the spans of each single
    point are not checked here.
    """

    def check(reply: ReplyPoints) -> None:
        _validate_spans(reply, request.document)

    values = {"question": request.question, "document": request.document}
    outcome = await model.ask_form(request.prompt, values, ReplyPoints, check)
    stated = outcome.value.points if outcome.value else []
    points = [
        FoundKeyPoint(text=collapse_whitespace(s.point), spans=tuple(s.spans)) for s in stated
    ]
    return _make_answer(outcome, found=tuple(point for point in points if point.text))


async def merge_points(model: PromptedModel, request: MergeKeyPoints) -> KeyPointsAnswer:
    """Merge points; an answer that loses a point, or names an unknown one, is unusable."""

    def check(reply: ReplyMergedPoints) -> None:
        _validate_merge(reply, len(request.points))

    values = {
        "question": request.question,
        "points": [collapse_whitespace(p) for p in request.points],
    }
    outcome = await model.ask_form(request.prompt, values, ReplyMergedPoints, check)
    stated = outcome.value.points if outcome.value else []
    return _make_answer(
        outcome,
        merged=tuple(
            MergedKeyPoint(
                text=collapse_whitespace(s.point), merged_from=tuple(sorted({*s.merged_from}))
            )
            for s in stated
        ),
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


def _make_answer(outcome: Outcome[Any], **points: Any) -> KeyPointsAnswer:
    return KeyPointsAnswer(
        status=outcome.status,
        reason=outcome.reason,
        call_id=outcome.call.call_id if outcome.call else None,
        **points,
    )


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


async def verify_support(model: PromptedModel, request: VerifySupport) -> list[JudgeAnswer]:
    """Answer for each claim; joined pages that are too long are cut to an excerpt."""
    return await verify_statements(
        model, request.prompt, request.claims, request.joined_pages, SupportVerdicts
    )
