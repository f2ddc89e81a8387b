"""The decisions a judge can make: the interface between protocols and judges.

Protocols send these requests without knowing whether a model or a lexical rule answers them. A
`JudgeAnswer` is a label or a score with its status, reason and evidence. A judge declares in
`decides` which requests it can answer; the others are `not_assessed` and never sent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, Protocol, Self, TypeVar

from tasks.base import Frozen
from tasks.models.attachments import Attachment
from tasks.warehouse.rows import Status

ValueT_co = TypeVar("ValueT_co", covariant=True)

CONSISTENT = "consistent"
INCONSISTENT = "inconsistent"
NOT_SUPPORT = "not_support"
SUPPORT = "support"
CONFLICT = "conflict"
FIRST, SECOND, TIE = "first", "second", "tie"
REFERENCE, REPORT = "reference", "report"
"""The winner of a comparison, regardless of the order."""
NO_TRUTH = "none"
"""The label of an answered claim that matches no true claim."""


def truth_label(index: int | str) -> str:
    """Return the label of an answered claim that states the true claim with this index or path."""
    return f"truth:{index}"


class JudgeAnswer(Frozen):
    """A judge's answer on one item."""

    status: Status
    label: str | None = None
    score: float | None = None
    """Probability 0-1 of the positive label, if the judge gives one."""
    reason: str | None = None
    evidence: str | None = None
    model_version: str | None = None
    call_id: str | None = None
    attempt: int = 1
    asked_together: int | None = None
    """Items decided by the same call; None if no model was called."""
    shown_share: float | None = None
    """The share 0-1 of the page's or report's characters that the judge saw; None: all of them, or
    there is no such text."""
    decided_by: str | None = None
    """The fallback that was asked after the judge refused; None: the judge itself answered."""
    refused_call: str | None = None
    """The judge's own call, if its fallback was asked."""


class PromptedRequest(Frozen):
    """A request that LLM judges answer by a prompt."""

    prompt: str
    """Protocol and step: a file in `configs/prompts`."""

    def template_values(self) -> dict[str, Any]:
        """Return all else that is asked, by the names that templates use."""
        return self.model_dump(exclude={"prompt"})


class DecisionRequest(PromptedRequest):
    """A request that a judge answers item by item."""

    action: ClassVar[str]
    """The action in words, for messages: "the judge cannot …"."""
    decided: ClassVar[str]
    """The field whose items are decided."""

    @property
    def n_items(self) -> int:
        """The number of answers."""
        return len(getattr(self, self.decided))

    def select(self, indices: Sequence[int]) -> Self:
        """Return the same request about the items of these answers alone."""
        return self._keep(indices, self.decided)

    def _keep(self, indices: Sequence[int], *fields: str) -> Self:
        return self.model_copy(
            update={name: tuple(getattr(self, name)[i] for i in indices) for name in fields}
        )


class VerifyClaims(DecisionRequest):
    """Is each claim consistent with the evidence retrieved for it?

    Labels: `consistent` (any one sentence supports it), `inconsistent` (contradicted by at
    least one), `not_support`. Source: Wiki Live Challenge, fact verification.
    """

    action: ClassVar[str] = "verify claims"
    decided: ClassVar[str] = "claims"

    claims: tuple[str, ...]
    pool: tuple[str, ...]
    """All candidate sentences of the other text."""
    retrieved: tuple[tuple[int, ...], ...]
    """For each claim the indices into `pool` of its evidence, best first."""
    subject: str = ""
    """What all claims are about, such as the article's title; a lexical judge expects its words
    less than others, since texts say "it" and "the tower"."""
    prompt: str = "wiki_fact/verify_claims"

    def select(self, indices: Sequence[int]) -> Self:
        return self._keep(indices, "claims", "retrieved")


class VerifyAgainstPage(DecisionRequest):
    """Does the page support each claim that cites it? Labels: support, not_support, conflict."""

    action: ClassVar[str] = "verify claims against a page"
    decided: ClassVar[str] = "claims"

    claims: tuple[str, ...]
    url: str
    page: str
    prompt: str = "wiki_fact/verify_against_page"


class Criterion(Frozen):
    """A criterion by which texts are judged."""

    id: str
    text: str


class CompareArticles(DecisionRequest):
    """Which article is better by each criterion of one category? Labels: first, second, tie."""

    action: ClassVar[str] = "compare articles"
    decided: ClassVar[str] = "criteria"

    category: str
    criteria: tuple[Criterion, ...]
    first: str
    second: str
    title: str = ""
    """The category's name; its id unless given."""
    description: str = ""
    """The category's description, if the criteria have one."""
    topic: str = ""
    """The articles' subject."""
    subject_area: str = ""
    """The main category of good articles that the subject belongs to, if known."""
    area_description: str = ""
    allow_tie: bool = False
    attached: Literal["first", "second"] | None = None
    """The article given as `attachments` instead of text; its text is then empty."""
    attachments: tuple[Attachment, ...] = ()
    prompt: str = "wiki_writing/compare_articles"


class MatchClaims(DecisionRequest):
    """Which true claim, if any, does each answered claim state? Labels: `truth:<index>`, `none`.

    All claims are of one level: the answers to one question, or the sub-claims of one pair.
    """

    action: ClassVar[str] = "match claims"
    decided: ClassVar[str] = "answered"

    question: str
    truths: tuple[str, ...]
    """Each in words: its value, accepted alternatives, what is known of it."""
    answered: tuple[str, ...]
    note: str = ""
    """The publisher's note on matching, e.g. that middle names may be missing."""
    prompt: str = "claim_discovery/match_claims"


class NamedValue(Frozen):
    """A property of a claim: the true value and the answered one."""

    name: str
    truth: str
    answered: str


class GradeValues(DecisionRequest):
    """How well does each answered value state the true one? Labels: `0` (wrong or missing) to
    `3` (the same). Source: LiveDRBench, whose code counts 2 and 3 as right."""

    action: ClassVar[str] = "grade values"
    decided: ClassVar[str] = "values"

    question: str
    values: tuple[NamedValue, ...]
    note: str = ""
    prompt: str = "claim_discovery/grade_values"


class ExtractFacts(PromptedRequest):
    """Extract atomic, self-contained statements from a reference article."""

    title: str
    text: str
    prompt: str = "extraction/facts"


class ExtractClaims(PromptedRequest):
    """Extract atomic, self-contained statements from a report, with the markers they cite."""

    title: str
    text: str
    prompt: str = "extraction/claims"


class ExtractedStatement(Frozen):
    """An extracted statement; `markers` as they stand in the text, empty for facts."""

    text: str
    markers: tuple[str, ...] = ()


@dataclass(frozen=True)
class StepAnswer(Generic[ValueT_co]):
    """A judge's answer to a request that it answers as a whole, or the reason why there is none."""

    status: Status
    value: ValueT_co | None = None
    reason: str | None = None
    model_version: str | None = None
    call_id: str | None = None


class VersionedJudge(Protocol):
    """What all that is asked of judges has in common: who answers, by which prompts."""

    name: str
    model_version: str
    """Stored in every verdict, part of every cell's key."""

    def prompt_sha(self, protocol: str) -> str:
        """Return the sha of the prompts (or weights) behind its answers for a protocol."""


class Judge(VersionedJudge, Protocol):
    """A judge. Implementations: the offline judge and the LLM judges."""

    decides: frozenset[type[Frozen]]
    """The requests it can answer."""
    reads: frozenset[str]
    """Media types of the files it can read; empty if it reads text only."""
    sees_conflict: bool
    """Whether it can tell a contradiction from missing support; if not, it never gives the labels
    `inconsistent` and `conflict`, and conflict metrics are `not_assessed`."""
    lexical: bool
    """Whether it compares words: it cannot read another language, and all of a pool counts, not
    only what was retrieved."""
    cpu_bound: bool
    """Whether it is CPU-bound; its cells then run in helper processes."""

    def page_key_parts(self, longest_bytes: int, max_claims: int) -> tuple[str, ...]:
        """Return how it reads the pages of a cell; empty if each is read whole and in one call.

        Part of the cell's key only if not empty, so that other cells keep their keys.

        longest_bytes: UTF-8 bytes of the longest page that is judged.
        max_claims: the most claims that cite one page.
        """

    async def decide(self, request: DecisionRequest) -> Sequence[JudgeAnswer]:
        """Return one answer per item, in order; `not_assessed` for requests it cannot answer."""


def explain_cannot(judge: Judge, what: str) -> str:
    """Return the reason for items that a judge cannot decide; `what` is its missing ability."""
    return f"not_assessed: the judge {judge.name} cannot {what}"
