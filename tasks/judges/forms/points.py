"""The forms in which models find, merge and check key points.

Models write keys in the alphabetical order of the schema: passage and reason come before the
verdict that they are for.
"""

from typing import Literal

from tasks.judges.forms.form import ReplyModel


class PointVerdict(ReplyModel):
    passage: str
    """Word for word from the report; empty where the point is omitted."""
    point: int
    reason: str
    verdict: Literal["supported", "omitted", "contradicted"]


class PointVerdicts(ReplyModel):
    results: list[PointVerdict]


class StatedPoint(ReplyModel):
    point: str
    spans: list[str]
    """Word for word from the document."""


class StatedPoints(ReplyModel):
    points: list[StatedPoint]


class MergedPoint(ReplyModel):
    merged_from: list[int]
    """Numbers of the points it holds, 1-based."""
    point: str


class MergedPoints(ReplyModel):
    points: list[MergedPoint]


KEY_POINT_FORMS: tuple[type[ReplyModel], ...] = (StatedPoints, MergedPoints)
