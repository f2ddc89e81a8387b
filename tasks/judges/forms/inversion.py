"""The forms in which models answer the steps of problem inversion."""

from math import isfinite

from pydantic import field_validator

from tasks.judges.forms.form import ReplyModel
from tasks.warehouse.truths import QuestionCategory


class StatedProperty(ReplyModel):
    text: str
    sentence: str
    """As it stands in the article."""


class StatedSubClaim(ReplyModel):
    name: str
    value: str
    sentence: str


class StatedTarget(ReplyModel):
    answer: str
    also: list[str]
    sentence: str
    kind: str
    category: QuestionCategory
    properties: list[StatedProperty]
    sub_claims: list[StatedSubClaim]


class StatedTargets(ReplyModel):
    targets: list[StatedTarget]


class PosedQuestion(ReplyModel):
    question: str


class StatedOther(ReplyModel):
    # Not `answer`: keys are sent in alphabetical order, and the reason comes first.
    reason: str
    value: str


class StatedOthers(ReplyModel):
    others: list[StatedOther]


class NamedAnswer(ReplyModel):
    name: str
    value: str


class StatedAnswer(ReplyModel):
    answer: str
    sub_claims: list[NamedAnswer]


class StatedAnswers(ReplyModel):
    answers: list[StatedAnswer]


class StatedEffort(ReplyModel):
    queries: list[str]
    units: list[str]
    minutes: float

    @field_validator("minutes")
    @classmethod
    def _some_time(cls, minutes: float) -> float:
        # Checked here and not in the schema: not every endpoint takes bounds.
        if not isfinite(minutes) or minutes <= 0:
            raise ValueError("expected a number of minutes above 0")
        return minutes


INVERSION_FORMS: tuple[type[ReplyModel], ...] = (
    StatedTargets, PosedQuestion, StatedOthers, StatedAnswers, StatedEffort,
)  # fmt: skip
