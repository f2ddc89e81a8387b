"""Filter key points that a judge extracted: keep those that their document supports.

Source: DeepResearchGym, whose key points carry verbatim spans. Spans that are not in the document
word for word are dropped, as are points without any span.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.judges.questions.extract_key_points import FoundKeyPoint
from tasks.judges.questions.merge_key_points import MergedKeyPoint
from tasks.judges.text import occurs_in


@dataclass(frozen=True, slots=True)
class SupportedPoints:
    """The points of documents that these support, with their verbatim spans."""

    points: tuple[FoundKeyPoint, ...]
    n_spans: int
    """Spans that the judge quoted."""
    n_verbatim: int
    """Quoted spans that are in the document."""


@dataclass(frozen=True, slots=True)
class DocumentPoint:
    """One merged point, with the spans in the documents that support it."""

    text: str
    merged_from: tuple[int, ...]
    """1-based numbers of the points it was merged from."""
    spans: tuple[str, ...]


def keep_supported_points(found: Sequence[FoundKeyPoint], document: str) -> SupportedPoints:
    """Keep the points that the document supports, each with its verbatim spans."""
    points = []
    n_verbatim = 0
    for point in found:
        spans = tuple(span.strip() for span in point.spans if occurs_in(span, document))
        n_verbatim += len(spans)
        if spans:
            points.append(FoundKeyPoint(text=point.text, spans=tuple(dict.fromkeys(spans))))
    return SupportedPoints(tuple(points), sum(len(point.spans) for point in found), n_verbatim)


def join_points(found: Sequence[SupportedPoints]) -> SupportedPoints:
    """Join the points of several documents, in order."""
    return SupportedPoints(
        tuple(point for one in found for point in one.points),
        sum(one.n_spans for one in found),
        sum(one.n_verbatim for one in found),
    )


def wrap_unmerged(points: Sequence[FoundKeyPoint]) -> tuple[MergedKeyPoint, ...]:
    """Wrap points that need no merging as merged points."""
    return tuple(
        MergedKeyPoint(text=point.text, merged_from=(number,))
        for number, point in enumerate(points, start=1)
    )


def attach_spans(
    merged: Sequence[MergedKeyPoint], points: Sequence[FoundKeyPoint]
) -> tuple[DocumentPoint, ...]:
    """Add to each merged point the spans of its sources, without duplicates."""
    made = []
    for one in merged:
        spans = (span for number in one.merged_from for span in points[number - 1].spans)
        made.append(DocumentPoint(one.text, one.merged_from, tuple(dict.fromkeys(spans))))
    return tuple(made)
