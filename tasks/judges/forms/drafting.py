"""Reply forms for the steps of drafting.

Models write keys in alphabetical order: the facts before their rubric, the reason before its
verdict.
"""

from typing import Literal

from tasks.judges.forms.form import ItemResults, Line, ReplyModel


class ReplyRubric(ReplyModel):
    facts: list[int]
    """1-based numbers of the facts."""
    kind: Literal["binary", "ternary"]
    points: Literal[1, 2, 3]
    rubric: Line


class ReplyRubrics(ReplyModel):
    rubrics: list[ReplyRubric]


class RubricVerdict(ReplyModel):
    reason: Line
    rubric: int
    """The rubric's number, 1-based."""
    verdict: Literal["keep", "drop"]


RubricVerdicts = ItemResults[RubricVerdict]


class ReplyReport(ReplyModel):
    report: str
