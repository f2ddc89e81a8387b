"""Reply forms for extracting facts, claims and key points."""

from tasks.judges.forms.form import ReplyModel


class ReplyFact(ReplyModel):
    statement: str


class ReplyFacts(ReplyModel):
    facts: list[ReplyFact]


class ReplyClaim(ReplyModel):
    statement: str
    markers: list[str]
    """Citation markers as they stand in the text."""


class ReplyClaims(ReplyModel):
    claims: list[ReplyClaim]


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
