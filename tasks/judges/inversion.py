"""The decisions by which a question is made out of an article: the seam of problem inversion.

None of them is believed as it stands: `tasks.inversion` checks without a model whatever can be
checked so. Source of the steps: LiveDRBench, problem inversion.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from tasks.base import Frozen
from tasks.judges.decisions import Answer, MatchClaims
from tasks.warehouse.rows import Status
from tasks.warehouse.truths import QuestionCategory

ValueT_co = TypeVar("ValueT_co", covariant=True)


class Property(Frozen):
    """Something distinctive about an answer, in words that name neither it nor the article."""

    text: str
    sentence: str
    """The article's sentence it rests on, as the judge copied it."""


class SubClaim(Frozen):
    """Something to be found out about an answer besides its name."""

    name: str
    """What it is, e.g. `year of construction`."""
    value: str
    sentence: str


class Target(Frozen):
    """An entity or finding of an article that can be asked for by what is known of it."""

    answer: str
    also: tuple[str, ...] = ()
    """Other names of it."""
    sentence: str
    """The article's sentence that names it."""
    kind: str
    """What it is, e.g. `a lighthouse`."""
    category: QuestionCategory
    properties: tuple[Property, ...]
    """The most telling first."""
    sub_claims: tuple[SubClaim, ...] = ()


class FoundAnswer(Frozen):
    """One answer of a judge to a posed question."""

    value: str
    sub_claims: tuple[tuple[str, str], ...] = ()
    """(name, value)."""


class OtherAnswer(Frozen):
    """Something else that has every property asked for, as the judge says."""

    value: str
    reason: str


class Effort(Frozen):
    """What an expert would need for a question, as the judge estimates."""

    queries: tuple[str, ...]
    """Searches to be made, one each."""
    units: tuple[str, ...]
    """Pieces of information to be found and put together, one each."""
    minutes: float


class FindTargets(Frozen):
    """What in this article has properties that tell it from everything else?"""

    title: str
    text: str
    n_targets: int
    n_properties: int
    prompt: str = "inversion/find_targets"


class PoseQuestion(Frozen):
    """Ask for the answer by these properties, without naming it or the article."""

    kind: str
    properties: tuple[str, ...]
    asked_of_it: tuple[str, ...]
    """Names of the sub-claims that the question also asks for."""
    unnamed: tuple[str, ...]
    """What must not be named: the answer, its other names, the article's title."""
    previous: str | None = None
    """The question that was posed before and cannot be used."""
    problem: str | None = None
    """Why."""
    prompt: str = "inversion/pose_question"


class FindOthers(Frozen):
    """What else has all the properties that the question asks for?"""

    question: str
    answer: str
    prompt: str = "inversion/find_others"


class AnswerClosedBook(Frozen):
    """Answer the question from memory alone."""

    question: str
    asked_of_it: tuple[str, ...]
    prompt: str = "inversion/answer_closed_book"


class AnswerFromPage(Frozen):
    """Answer the question from one page alone."""

    question: str
    asked_of_it: tuple[str, ...]
    page: str
    prompt: str = "inversion/answer_from_page"


class EstimateDifficulty(Frozen):
    """How much searching and reading does the question take an expert?"""

    question: str
    answer: str
    properties: tuple[str, ...]
    asked_of_it: tuple[str, ...]
    prompt: str = "inversion/estimate_difficulty"


@dataclass(frozen=True)
class Said(Generic[ValueT_co]):
    """What a judge said to one of these, or why it said nothing."""

    status: Status
    value: ValueT_co | None = None
    reason: str | None = None
    model_version: str | None = None
    call_id: str | None = None


class Inverter(Protocol):
    """What makes questions out of articles: an LLM judge."""

    name: str
    model_version: str

    def prompt_sha(self, protocol: str) -> str:
        """Sha of the prompts that its questions rest on, for `inversion`."""

    async def find_targets(self, request: FindTargets) -> Said[tuple[Target, ...]]:
        """At most as many as asked for, the best first."""

    async def pose_question(self, request: PoseQuestion) -> Said[str]:
        """The question."""

    async def find_others(self, request: FindOthers) -> Said[tuple[OtherAnswer, ...]]:
        """None, if it knows of nothing else."""

    async def answer_closed_book(self, request: AnswerClosedBook) -> Said[tuple[FoundAnswer, ...]]:
        """None, if it does not know."""

    async def answer_from_page(self, request: AnswerFromPage) -> Said[tuple[FoundAnswer, ...]]:
        """None, if the page does not say."""

    async def estimate_difficulty(self, request: EstimateDifficulty) -> Said[Effort]:
        """What it takes."""


class Matcher(Protocol):
    """What tells whether an answer states a true claim: a judge."""

    async def decide(self, request: MatchClaims) -> Sequence[Answer]:
        """One answer per answered claim, in order."""
