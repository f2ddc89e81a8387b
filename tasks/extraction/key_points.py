"""Key points that a judge made of documents: only those stay that their document bears out.

Source: DeepResearchGym, whose key points carry verbatim spans. A span that does not stand in its
document, word for word, is dropped; a point without any is dropped as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.judges.research import FoundPoint, MergedPoint
from tasks.judges.text import stands_in


@dataclass(frozen=True, slots=True)
class BorneOut:
    """The points of a document, with what of them it says word for word."""

    points: tuple[FoundPoint, ...]
    n_spans: int
    """That the judge quoted."""
    n_verbatim: int
    """Of those, that do stand in the document."""


@dataclass(frozen=True, slots=True)
class PointOfDocuments:
    """One merged point and where the documents say it."""

    text: str
    merged_from: tuple[int, ...]
    """1-based numbers of the points it was merged from."""
    spans: tuple[str, ...]


def borne_out(found: Sequence[FoundPoint], document: str) -> BorneOut:
    """The points that the document bears out, with those of their spans that stand there."""
    points = []
    n_verbatim = 0
    for point in found:
        spans = tuple(span.strip() for span in point.spans if stands_in(span, document))
        n_verbatim += len(spans)
        if spans:
            points.append(FoundPoint(text=point.text, spans=tuple(dict.fromkeys(spans))))
    return BorneOut(tuple(points), sum(len(point.spans) for point in found), n_verbatim)


def unmerged(points: Sequence[FoundPoint]) -> tuple[MergedPoint, ...]:
    """Points that need no merging, as if they had been merged."""
    return tuple(
        MergedPoint(text=point.text, merged_from=(number,))
        for number, point in enumerate(points, start=1)
    )


def with_spans(
    merged: Sequence[MergedPoint], points: Sequence[FoundPoint]
) -> tuple[PointOfDocuments, ...]:
    """The merged points with the spans of those they were merged from, each once."""
    made = []
    for one in merged:
        spans = (span for number in one.merged_from for span in points[number - 1].spans)
        made.append(PointOfDocuments(one.text, one.merged_from, tuple(dict.fromkeys(spans))))
    return tuple(made)
