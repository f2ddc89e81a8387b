"""Reply forms for the steps of problem inversion."""

from tasks.judges.forms.form import Limited, Line, ReplyModel
from tasks.judges.inversion import QuestionTarget


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
