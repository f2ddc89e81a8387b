"""The decisions a judge can make: the interface between protocols and judges.

Protocols send these requests without knowing whether a model or a lexical rule answers them. A
`JudgeAnswer` is a label or a score with its status, reason and evidence. A judge declares in
`decides` which requests it can answer; the others are `not_assessed` and never sent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from tasks.base import Frozen
from tasks.judges.replies import ReplyModel
from tasks.warehouse.rows import Status

ValueT = TypeVar("ValueT")
ValueT_co = TypeVar("ValueT_co", covariant=True)

CONSISTENT = "consistent"
INCONSISTENT = "inconsistent"
NOT_SUPPORT = "not_support"
SUPPORT = "support"
CONFLICT = "conflict"
SUPPORTED, OMITTED, CONTRADICTED = "supported", "omitted", "contradicted"
UNSUPPORTED, UNKNOWN = "unsupported", "unknown"
FULL, PARTIAL, NONE = "full", "partial", "none"
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


@dataclass(frozen=True)
class StepAnswer(Generic[ValueT_co]):
    """A judge's answer to a request that it answers as a whole, or the reason why there is none."""

    status: Status
    value: ValueT_co | None = None
    reason: str | None = None
    model_version: str | None = None
    call_id: str | None = None


class PromptedRequest(Frozen):
    """A request that LLM judges answer by a prompt."""

    prompt: str
    """Protocol and step: a file in `configs/prompts`."""
    forms: ClassVar[tuple[type[ReplyModel], ...]]
    """The forms in which a model may be asked to reply."""

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

    async def ask(self, model: Any) -> Sequence[JudgeAnswer]:
        """Ask a model, a `PromptedModel`; return one answer per item, in order."""
        raise NotImplementedError


class StepRequest(PromptedRequest, Generic[ValueT]):
    """A request that a judge answers as a whole."""

    async def ask(self, model: Any) -> StepAnswer[ValueT]:
        """Ask a model, a `PromptedModel`."""
        raise NotImplementedError


class Criterion(Frozen):
    """A criterion by which texts are judged."""

    id: str
    text: str


class VersionedJudge(Protocol):
    """What all that is asked of judges has in common: who answers, by which prompts."""

    name: str
    model_version: str
    """Stored in every verdict, part of every cell's key."""

    def prompt_sha(self, protocol: str) -> str:
        """Return the sha of the prompts (or weights) behind its answers for a protocol: the name
        of its folder in `configs/prompts`."""


class StepJudge(VersionedJudge, Protocol):
    """A judge that answers requests as a whole: an LLM judge."""

    async def answer(self, request: StepRequest[ValueT]) -> StepAnswer[ValueT]:
        """Answer a request."""


class Judge(VersionedJudge, Protocol):
    """A judge. Implementations: the offline judge and the LLM judges."""

    @property
    def decides(self) -> frozenset[type[Frozen]]:
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
