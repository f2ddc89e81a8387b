"""Reply forms for the steps of problem inversion."""

from math import isfinite

from pydantic import field_validator

from tasks.judges.forms.form import ReplyModel
from tasks.warehouse.truths import QuestionCategory


class ReplyProperty(ReplyModel):
    text: str
    sentence: str
    """Quoted from the article."""


class ReplySubClaim(ReplyModel):
    name: str
    value: str
    sentence: str


class ReplyTarget(ReplyModel):
    answer: str
    also: list[str]
    sentence: str
    kind: str
    category: QuestionCategory
    properties: list[ReplyProperty]
    sub_claims: list[ReplySubClaim]


class ReplyTargets(ReplyModel):
    targets: list[ReplyTarget]


class ReplyQuestion(ReplyModel):
    question: str


class ReplyAlternative(ReplyModel):
    # Named `value`, not `answer`: keys are sent in alphabetical order, the reason comes first.
    reason: str
    value: str


class ReplyAlternatives(ReplyModel):
    others: list[ReplyAlternative]


class ReplySubAnswer(ReplyModel):
    name: str
    value: str


class ReplyAnswer(ReplyModel):
    answer: str
    sub_claims: list[ReplySubAnswer]


class ReplyAnswers(ReplyModel):
    answers: list[ReplyAnswer]


class ReplyEffort(ReplyModel):
    queries: list[str]
    units: list[str]
    minutes: float

    @field_validator("minutes")
    @classmethod
    def _check_minutes(cls, minutes: float) -> float:
        # Not in the schema: some endpoints take no bounds.
        if not isfinite(minutes) or minutes <= 0:
            raise ValueError("expected a number of minutes above 0")
        return minutes


INVERSION_FORMS: tuple[type[ReplyModel], ...] = (
    ReplyTargets, ReplyQuestion, ReplyAlternatives, ReplyAnswers, ReplyEffort,
)  # fmt: skip
