"""Reply forms for key points, the support of claims, and the quality of reports.

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


class SupportVerdict(ReplyModel):
    statement: int
    passage: str
    """Quoted from the pages; empty if nothing supports the claim."""
    reason: str
    verdict: Literal["full", "partial", "none"]


class SupportVerdicts(ReplyModel):
    results: list[SupportVerdict]


class Rating(ReplyModel):
    criterion: str
    reason: str
    score: Literal["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]


class Ratings(ReplyModel):
    results: list[Rating]
