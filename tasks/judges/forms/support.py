"""Reply forms for grading the support of claims and the quality of reports."""

from typing import Literal

from tasks.judges.forms.form import ReplyModel


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
