"""What every way to ask an agent has in common: start once, look as often as wanted, read.

A client starts a job and looks at it. What an ended job brought is kept as it came (`raw`), and
reading it is a pure function, so that an answer that was paid for can be read again by better
code without being bought again.
"""

from typing import Literal, Protocol

from tasks.base import Frozen
from tasks.models.errors import ModelError
from tasks.warehouse.rows import AssignmentKind, ForeignText
from tasks.warehouse.traces import SearchStep


class Turn(Frozen):
    """One turn of what was said before: the prompt, the agent's question back."""

    role: Literal["user", "agent"]
    text: str


class Question(Frozen):
    """What an agent is asked: one assignment, or the reply to its question back."""

    job: str
    """Our own id of the job; given along where an interface takes one (idempotency, metadata)."""
    edition: str
    assignment: str
    title: str
    """The article's title; the assignment's id where there is no article."""
    kind: AssignmentKind
    query: str | None = None
    """Of a `research` assignment: what it asks, without what goes around it in the prompt."""
    prompt: str
    """What is said now: the assignment's prompt, or the standard reply."""
    banned: tuple[str, ...] = ()
    """Addresses that must be neither opened nor cited."""
    earlier: tuple[Turn, ...] = ()
    """What was said before, oldest first; empty at the first turn."""
    earlier_id: str | None = None
    """The job of the turn before, as the provider names it."""


class Seen(Frozen):
    """A job as it was last seen."""

    remote_id: str | None
    """As the provider names it; None where the answer came at once and nothing can be polled."""
    word: ForeignText
    """The provider's own word for its state."""
    ended: bool
    """False for every word that is not known to be an end: such jobs are waited for."""
    raw: ForeignText | None = None
    """The whole answer as it came, once it has ended, well or not."""


class Annotation(Frozen):
    """A place of the text that rests on a source."""

    start: int | None
    """Characters from the text's begin; None (as for places outside the text) where unknown."""
    end: int | None
    """End-exclusive."""
    url: ForeignText
    title: ForeignText | None = None


class Source(Frozen):
    """One entry of a list of sources; the n-th is what `[n]` in the text refers to."""

    url: ForeignText
    title: ForeignText | None = None


class AgentUsage(Frozen):
    """What a report took, as the provider counts it; None where it does not say."""

    input_tokens: int | None = None
    """With the cached ones."""
    cached_tokens: int | None = None
    output_tokens: int | None = None
    """Without reasoning."""
    reasoning_tokens: int | None = None
    citation_tokens: int | None = None
    """Tokens of pages that were read, where they are billed apart."""
    searches: int | None = None


class Answer(Frozen):
    """What an ended job brought, in one form for every provider."""

    outcome: Literal["report", "question", "failed"]
    """`question`: the provider itself says that it waits for a reply. Whether the text of a
    report is one is for others to say."""
    text: ForeignText = ""
    """As the agent wrote it, citation markers and all; also what there is of a failed report."""
    annotations: tuple[Annotation, ...] = ()
    annotated: Literal["after", "instead"] = "after"
    """Whether an annotation's span is what the source supports (the marker goes after it), or
    a link that the marker replaces."""
    sources: tuple[Source, ...] = ()
    """The list that `[n]` in the text refers to, where the interface gives it beside the text."""
    trace: tuple[SearchStep, ...] = ()
    n_reasoning_steps: int | None = None
    model_version: ForeignText | None = None
    usage: AgentUsage = AgentUsage()
    cost_usd: float | None = None
    """As the interface says; None where only the price list can."""
    error: ForeignText | None = None
    """Why it failed, in words."""


class Gone(ModelError):
    """The provider does not know the job any more: expired, deleted, or never stored."""


class UnreadableAnswer(ModelError):
    """An answer came, but not in a form that is known; the message says what was expected."""


class AgentClient(Protocol):
    """One agent, reachable."""

    async def start(self, question: Question) -> Seen:
        """Buy one report: exactly one request, never repeated here.

        Raises:
            Transient: with `maybe_billed` nobody knows whether a job was made; without it none
                was, and it may be asked again.
            Rejected: this question is refused; nothing was bought.
            StopsTheStage: no question can succeed now; nothing was bought.
        """

    async def look(self, remote_id: str) -> Seen:
        """Look at a job once; costs nothing.

        Raises:
            Transient: look again later.
            Gone: it will never be found again.
            StopsTheStage: as for `start`.
        """

    async def check(self) -> str:
        """Make one cheap call; what was found, in words.

        Raises:
            ModelError: what is wrong, in words a person can act on.
        """

    async def close(self) -> None:
        """Close its connections. Jobs under way go on."""
