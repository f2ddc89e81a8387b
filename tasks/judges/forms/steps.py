"""Reply forms for what is answered as a whole: extraction, key points, inversion and drafting.

Models write keys in the schema's alphabetical order: the facts before their rubric.
"""

from typing import Literal

from tasks.judges.forms.form import Limited, Line, ReplyModel
from tasks.judges.inversion import QuestionTarget


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


class ReplyTargets(ReplyModel):
    targets: list[QuestionTarget]


class ReplyQuestion(ReplyModel):
    question: Line


class ReplyAlternative(ReplyModel):
    # Named `value`, not `answer`: keys are sent in alphabetical order, the reason comes first.
    reason: Line
    value: Line


class ReplyAlternatives(ReplyModel):
    others: Limited[ReplyAlternative]


class ReplySubAnswer(ReplyModel):
    name: Line
    value: Line


class ReplyAnswer(ReplyModel):
    answer: Line
    sub_claims: Limited[ReplySubAnswer]


class ReplyAnswers(ReplyModel):
    answers: Limited[ReplyAnswer]


class ReplyRubric(ReplyModel):
    facts: list[int]
    """1-based numbers of the facts."""
    kind: Literal["binary", "ternary"]
    points: Literal[1, 2, 3]
    rubric: Line


class ReplyRubrics(ReplyModel):
    rubrics: list[ReplyRubric]


class ReplyReport(ReplyModel):
    report: str
