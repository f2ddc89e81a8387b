"""Reply forms for matching claims and grading values.

Models write keys in the schema's alphabetical order: the reason comes before its verdict.
"""

from typing import Literal

from tasks.judges.forms.form import ReplyModel


class ClaimMatch(ReplyModel):
    claim: int
    reason: str
    truth: int
    """1-based number of the true claim that it states; 0 if it states none."""


class ClaimMatches(ReplyModel):
    results: list[ClaimMatch]


class ValueGrade(ReplyModel):
    item: int
    reason: str
    score: Literal["0", "1", "2", "3"]


class ValueGrades(ReplyModel):
    results: list[ValueGrade]


CLAIM_FORMS: tuple[type[ReplyModel], ...] = (ClaimMatches, ValueGrades)
