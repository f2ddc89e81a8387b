"""Key points put to a model: each checked against a report; found in a document, and merged."""

import asyncio
from collections.abc import Sequence
from typing import Any

from tasks.judges.decisions import Answer
from tasks.judges.forms.points import MergedPoints, PointVerdict, PointVerdicts, StatedPoints
from tasks.judges.llm.requests import Asking, ok, still_open
from tasks.judges.research import (
    CheckPoints,
    ExtractKeyPoints,
    FoundPoint,
    MergedPoint,
    MergeKeyPoints,
    PointsSaid,
)
from tasks.judges.text import one_line, quoted, stands_in
from tasks.models.gateway import InvalidReply, Outcome


async def checked_points(asking: Asking, request: CheckPoints) -> Sequence[Answer]:
    """One answer per point. The first call goes alone, so that a provider's cache holds the report
    when the others come."""
    size = asking.entry.claims_per_call
    groups = [request.points[start : start + size] for start in range(0, request.n_items, size)]
    answered = [await _checked(asking, request, points) for points in groups[:1]]
    answered += await asyncio.gather(*(_checked(asking, request, points) for points in groups[1:]))
    return [answer for answers in answered for answer in answers]


async def _checked(asking: Asking, request: CheckPoints, points: Sequence[str]) -> list[Answer]:
    n = len(points)
    values: dict[str, Any] = {
        "question": request.question,
        "report": request.report,
        "points": [one_line(point) for point in points],
    }
    outcome: Outcome[list[PointVerdict]] = await asking.decided(
        request.prompt, values, PointVerdicts, "point", range(1, n + 1)
    )
    if outcome.value is None:
        return [still_open(outcome, n)] * n
    return [
        ok(outcome, n, said.verdict, said.reason, quoted(said.passage, request.report))
        for said in outcome.value
    ]


async def found_points(asking: Asking, request: ExtractKeyPoints) -> PointsSaid:
    """The points of one document, as the model gives them; an answer none of whose points has a
    span that stands there is unusable. Which single ones have is not checked here."""

    def check(reply: StatedPoints) -> None:
        _check_found(reply, request.document)

    values = {"question": request.question, "document": request.document}
    outcome = await asking.stated(request.prompt, values, StatedPoints, check)
    stated = outcome.value.points if outcome.value else []
    points = [FoundPoint(text=one_line(s.point), spans=tuple(s.spans)) for s in stated]
    return _said(outcome, found=tuple(point for point in points if point.text))


async def merged_points(asking: Asking, request: MergeKeyPoints) -> PointsSaid:
    """The merged points; an answer that loses a point, or names one that is none, is unusable."""

    def check(reply: MergedPoints) -> None:
        _check_merged(reply, len(request.points))

    values = {"question": request.question, "points": [one_line(p) for p in request.points]}
    outcome = await asking.stated(request.prompt, values, MergedPoints, check)
    stated = outcome.value.points if outcome.value else []
    return _said(
        outcome,
        merged=tuple(
            MergedPoint(text=one_line(s.point), merged_from=tuple(sorted({*s.merged_from})))
            for s in stated
        ),
    )


def _check_found(reply: StatedPoints, document: str) -> None:
    spans = {span for stated in reply.points if stated.point.strip() for span in stated.spans}
    if reply.points and not any(stands_in(span, document) for span in spans):
        raise InvalidReply(
            f"spans: no span stands in the document, word for word ({len(spans)} given)"
        )


def _check_merged(reply: MergedPoints, n_points: int) -> None:
    named = {number for point in reply.points for number in point.merged_from}
    asked = set(range(1, n_points + 1))
    if wrong := sorted(named - asked):
        raise InvalidReply(f"merged_from: {wrong[0]} is none of 1 to {n_points}")
    if lost := sorted(asked - named):
        raise InvalidReply(f"merged_from: {lost[0]} is in no point ({len(lost)} of {n_points})")
    if any(not point.merged_from or not point.point.strip() for point in reply.points):
        raise InvalidReply("points: one has no text, or is merged from nothing")


def _said(outcome: Outcome[Any], **points: Any) -> PointsSaid:
    return PointsSaid(
        status=outcome.status,
        reason=outcome.reason,
        call_id=outcome.call.call_id if outcome.call else None,
        **points,
    )
