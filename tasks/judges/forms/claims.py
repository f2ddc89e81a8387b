"""The forms in which models match claims and grade values.

Models write keys in the alphabetical order of the schema: the reason comes before what it is for.
"""

from typing import Literal

from tasks.judges.forms.form import ReplyModel


class ClaimMatch(ReplyModel):
    claim: int
    reason: str
    truth: int
    """Number of the true claim that it states, 1-based; 0 where it states none."""


class ClaimMatches(ReplyModel):
    results: list[ClaimMatch]


class ValueGrade(ReplyModel):
    item: int
    reason: str
    score: Literal["0", "1", "2", "3"]


class ValueGrades(ReplyModel):
    results: list[ValueGrade]


CLAIM_FORMS: tuple[type[ReplyModel], ...] = (ClaimMatches, ValueGrades)
