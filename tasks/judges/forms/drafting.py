"""The forms in which models answer the steps of drafting.

Keys come in alphabetical order: the facts before the rubric that rests on them, the reason before
its verdict.
"""

from typing import Literal

from tasks.judges.forms.form import ReplyModel


class StatedRubric(ReplyModel):
    facts: list[int]
    """Their numbers, 1-based."""
    kind: Literal["binary", "ternary"]
    points: Literal[1, 2, 3]
    rubric: str


class StatedRubrics(ReplyModel):
    rubrics: list[StatedRubric]


class LookedAtRubric(ReplyModel):
    reason: str
    rubric: int
    """Its number, 1-based."""
    verdict: Literal["keep", "drop"]


class LookedAtRubrics(ReplyModel):
    results: list[LookedAtRubric]


class StatedKeywords(ReplyModel):
    deviation: list[str]
    focus: list[str]


class WrittenReport(ReplyModel):
    report: str


DRAFTING_FORMS: tuple[type[ReplyModel], ...] = (
    StatedRubrics, LookedAtRubrics, StatedKeywords, WrittenReport,
)  # fmt: skip
