"""Reply forms for extracting, merging and checking key points.

Models write keys in the schema's alphabetical order: passage and reason come before the verdict.
"""

from typing import Literal

from tasks.judges.forms.form import ReplyModel


class PointVerdict(ReplyModel):
    passage: str
    """Quoted from the report; empty if the point is omitted."""
    point: int
    reason: str
    verdict: Literal["supported", "omitted", "contradicted"]


class PointVerdicts(ReplyModel):
    results: list[PointVerdict]


class ReplyPoint(ReplyModel):
    point: str
    spans: list[str]
    """Quotations from the document."""


class ReplyPoints(ReplyModel):
    points: list[ReplyPoint]


class ReplyMergedPoint(ReplyModel):
    merged_from: list[int]
    """1-based numbers of the points merged in it."""
    point: str


class ReplyMergedPoints(ReplyModel):
    points: list[ReplyMergedPoint]


KEY_POINT_FORMS: tuple[type[ReplyModel], ...] = (ReplyPoints, ReplyMergedPoints)
