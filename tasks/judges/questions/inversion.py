"""Questions of problem inversion, in the order in which they are asked.

No answer is trusted: `tasks.inversion` checks whatever can be checked without a model. Source:
LiveDRBench, problem inversion.
"""

from math import isfinite

from pydantic import field_validator

from tasks.base import Frozen
from tasks.judges.decisions import StepAnswer, StepRequest
from tasks.judges.llm.requests import PromptedModel
from tasks.judges.replies import Limited, Line, Lines, ReplyModel
from tasks.warehouse.truths import QuestionCategory


class TargetProperty(ReplyModel):
    """A distinctive property of an answer, in words that name neither it nor the article."""

    text: Line
    sentence: Line
    """The article's sentence behind it, as the judge copied it."""


class SubClaim(ReplyModel):
    """A further fact to be found about an answer."""

    name: Line
    """What it states, e.g. `year of construction`."""
    value: Line
    sentence: Line


class QuestionTarget(ReplyModel):
    """An entity or finding of an article that a question can ask for by its properties."""

    answer: Line
    also: Lines
    """Its other names."""
    sentence: Line
    """The article's sentence that names it."""
    kind: Line
    """Its kind, e.g. `a lighthouse`."""
    category: QuestionCategory
    properties: Limited[TargetProperty]
    """The most telling first."""
    sub_claims: Limited[SubClaim]


class ReplyTargets(ReplyModel):
    targets: list[QuestionTarget]


class FindTargets(StepRequest[tuple[QuestionTarget, ...]]):
    """What in this article can be identified by its properties?"""

    forms = (ReplyTargets,)

    title: str
    text: str
    n_targets: int
    n_properties: int
    prompt: str = "inversion/find_targets"

    async def ask(self, model: PromptedModel) -> StepAnswer[tuple[QuestionTarget, ...]]:
        """Find targets, at most `n_targets`, the best first."""
        return await model.answer_step(
            self, ReplyTargets, lambda reply: tuple(reply.targets[: self.n_targets])
        )


class ReplyQuestion(ReplyModel):
    question: Line


class PoseQuestion(StepRequest[str]):
    """Ask for the answer by these properties, without naming it or the article."""

    forms = (ReplyQuestion,)

    kind: str
    properties: tuple[str, ...]
    asked_of_it: tuple[str, ...]
    """Names of the sub-claims that the question also asks for."""
    unnamed: tuple[str, ...]
    """Names the question must avoid: the answer, its other names, the article's title."""
    previous: str | None = None
    """The rejected question before this one."""
    problem: str | None = None
    """Why it was rejected."""
    prompt: str = "inversion/pose_question"

    async def ask(self, model: PromptedModel) -> StepAnswer[str]:
        return await model.answer_step(self, ReplyQuestion, lambda reply: reply.question)


class ReplyAlternative(ReplyModel):
    # Named `value`, not `answer`: keys are sent in alphabetical order, the reason comes first.
    reason: Line
    value: Line


class ReplyAlternatives(ReplyModel):
    others: Limited[ReplyAlternative]


class OtherAnswer(Frozen):
    """Another answer that, according to the judge, has every property asked for."""

    value: str
    reason: str


class FindOthers(StepRequest[tuple[OtherAnswer, ...]]):
    """What else has all the properties that the question asks for?"""

    forms = (ReplyAlternatives,)

    question: str
    answer: str
    prompt: str = "inversion/find_others"

    async def ask(self, model: PromptedModel) -> StepAnswer[tuple[OtherAnswer, ...]]:
        """Find other answers; empty if there are none."""
        return await model.answer_step(
            self,
            ReplyAlternatives,
            lambda reply: tuple(
                OtherAnswer(value=other.value, reason=other.reason)
                for other in reply.others
                if other.value
            ),
        )


class ReplySubAnswer(ReplyModel):
    name: Line
    value: Line


class ReplyAnswer(ReplyModel):
    answer: Line
    sub_claims: Limited[ReplySubAnswer]


class ReplyAnswers(ReplyModel):
    answers: Limited[ReplyAnswer]


class FoundAnswer(Frozen):
    """A judge's answer to a posed question."""

    value: str
    sub_claims: tuple[tuple[str, str], ...] = ()
    """Pairs of name and value."""


class AnswerClosedBook(StepRequest[tuple[FoundAnswer, ...]]):
    """Answer the question from memory alone."""

    forms = (ReplyAnswers,)

    question: str
    asked_of_it: tuple[str, ...]
    prompt: str = "inversion/answer_closed_book"

    async def ask(self, model: PromptedModel) -> StepAnswer[tuple[FoundAnswer, ...]]:
        """Answer; empty if the judge does not know, or the page does not tell."""
        return await model.answer_step(
            self,
            ReplyAnswers,
            lambda reply: tuple(
                FoundAnswer(
                    value=answer.answer,
                    sub_claims=tuple(
                        (sub.name, sub.value) for sub in answer.sub_claims if sub.value
                    ),
                )
                for answer in reply.answers
                if answer.answer
            ),
        )


class AnswerFromPage(AnswerClosedBook):
    """Answer the question from one page alone."""

    page: str
    prompt: str = "inversion/answer_from_page"


class Effort(ReplyModel):
    """The judge's estimate of what an expert needs for a question."""

    queries: Lines
    """The searches to be made."""
    units: Lines
    """The pieces of information to be found and combined."""
    minutes: float

    @field_validator("minutes")
    @classmethod
    def _check_minutes(cls, minutes: float) -> float:
        # Not in the schema: some endpoints take no bounds.
        if not isfinite(minutes) or minutes <= 0:
            raise ValueError("expected a number of minutes above 0")
        return minutes


class EstimateDifficulty(StepRequest[Effort]):
    """How much searching and reading does an expert need for the question?"""

    forms = (Effort,)

    question: str
    answer: str
    properties: tuple[str, ...]
    asked_of_it: tuple[str, ...]
    prompt: str = "inversion/estimate_difficulty"

    async def ask(self, model: PromptedModel) -> StepAnswer[Effort]:
        return await model.answer_step(self, Effort, lambda effort: effort)
