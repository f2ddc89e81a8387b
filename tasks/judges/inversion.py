"""The steps of turning an article into a question: the interface to judges for problem inversion.

No answer is trusted: `tasks.inversion` checks whatever can be checked without a model. Values that
are reply forms themselves hold a model's texts as clean lines. Source of the steps: LiveDRBench,
problem inversion.
"""

from collections.abc import Sequence
from math import isfinite
from typing import Protocol

from pydantic import field_validator

from tasks.base import Frozen
from tasks.judges.decisions import (
    JudgeAnswer,
    MatchClaims,
    PromptedRequest,
    StepAnswer,
    VersionedJudge,
)
from tasks.judges.forms.form import Limited, Line, Lines, ReplyModel
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


class FoundAnswer(Frozen):
    """A judge's answer to a posed question."""

    value: str
    sub_claims: tuple[tuple[str, str], ...] = ()
    """Pairs of name and value."""


class OtherAnswer(Frozen):
    """Another answer that, according to the judge, has every property asked for."""

    value: str
    reason: str


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


class FindTargets(PromptedRequest):
    """What in this article can be identified by its properties?"""

    title: str
    text: str
    n_targets: int
    n_properties: int
    prompt: str = "inversion/find_targets"


class PoseQuestion(PromptedRequest):
    """Ask for the answer by these properties, without naming it or the article."""

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


class FindOthers(PromptedRequest):
    """What else has all the properties that the question asks for?"""

    question: str
    answer: str
    prompt: str = "inversion/find_others"


class AnswerClosedBook(PromptedRequest):
    """Answer the question from memory alone."""

    question: str
    asked_of_it: tuple[str, ...]
    prompt: str = "inversion/answer_closed_book"


class AnswerFromPage(PromptedRequest):
    """Answer the question from one page alone."""

    question: str
    asked_of_it: tuple[str, ...]
    page: str
    prompt: str = "inversion/answer_from_page"


class EstimateDifficulty(PromptedRequest):
    """How much searching and reading does an expert need for the question?"""

    question: str
    answer: str
    properties: tuple[str, ...]
    asked_of_it: tuple[str, ...]
    prompt: str = "inversion/estimate_difficulty"


class Inverter(VersionedJudge, Protocol):
    """A judge that turns articles into questions: an LLM judge."""

    async def find_targets(self, request: FindTargets) -> StepAnswer[tuple[QuestionTarget, ...]]:
        """Find targets, at most `n_targets`, the best first."""

    async def pose_question(self, request: PoseQuestion) -> StepAnswer[str]:
        """Pose the question."""

    async def find_others(self, request: FindOthers) -> StepAnswer[tuple[OtherAnswer, ...]]:
        """Find other answers; empty if there are none."""

    async def answer_closed_book(
        self, request: AnswerClosedBook
    ) -> StepAnswer[tuple[FoundAnswer, ...]]:
        """Answer from memory; empty if the judge does not know."""

    async def answer_from_page(
        self, request: AnswerFromPage
    ) -> StepAnswer[tuple[FoundAnswer, ...]]:
        """Answer from the page; empty if the page does not tell."""

    async def estimate_difficulty(self, request: EstimateDifficulty) -> StepAnswer[Effort]:
        """Estimate the effort."""


class ClaimMatcher(Protocol):
    """A judge that matches answers with true claims."""

    async def decide(self, request: MatchClaims) -> Sequence[JudgeAnswer]:
        """Return one answer per answered claim, in order."""
