"""Reply forms for the steps of drafting.

Models write keys in alphabetical order: the facts before their rubric, the reason before its
verdict.
"""

from typing import Literal

from tasks.judges.forms.form import ReplyModel


class ReplyRubric(ReplyModel):
    facts: list[int]
    """1-based numbers of the facts."""
    kind: Literal["binary", "ternary"]
    points: Literal[1, 2, 3]
    rubric: str


class ReplyRubrics(ReplyModel):
    rubrics: list[ReplyRubric]


class RubricVerdict(ReplyModel):
    reason: str
    rubric: int
    """The rubric's number, 1-based."""
    verdict: Literal["keep", "drop"]


class RubricVerdicts(ReplyModel):
    results: list[RubricVerdict]


class ReplyKeywords(ReplyModel):
    deviation: list[str]
    focus: list[str]


class ReplyReport(ReplyModel):
    report: str


DRAFTING_FORMS: tuple[type[ReplyModel], ...] = (
    ReplyRubrics, RubricVerdicts, ReplyKeywords, ReplyReport,
)  # fmt: skip
