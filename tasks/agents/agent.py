"""The interface that all agent clients share: start a job once, poll it, read its answer.

The answer of an ended job is stored as received (`raw`). Reading it is a pure function, so an
answer that was paid for can be read again by better code without being bought again.
"""

from typing import Annotated, Literal, Protocol

from pydantic import Field

from tasks.base import Frozen
from tasks.models.errors import ModelError
from tasks.warehouse.rows import AssignmentKind, ForeignText
from tasks.warehouse.traces import SearchStep


class ConversationMessage(Frozen):
    """An earlier message of the conversation: a prompt, or the agent's question."""

    role: Literal["user", "agent"]
    text: str


class SandboxAccess(Frozen):
    """A job's way to our search server."""

    url: str
    token: str = Field(repr=False)


class JobRequest(Frozen):
    """A request to an agent: one assignment, or the reply to its question."""

    job: str
    """Our own id of the job; sent where an interface accepts one (idempotency key, metadata)."""
    edition: str
    assignment: str
    title: str
    """The article's title; the assignment's id where there is no article."""
    kind: AssignmentKind
    query: str | None = None
    """The query of a `research` assignment, without the rest of the prompt."""
    prompt: str
    """The assignment's prompt, or the standard reply."""
    banned: tuple[str, ...] = ()
    """Addresses that must be neither opened nor cited."""
    history: tuple[ConversationMessage, ...] = ()
    """Earlier messages, oldest first; empty for the first request."""
    previous_remote_id: str | None = None
    """The provider's id of the previous job in the conversation."""
    sandbox: SandboxAccess | None = None
    """For agents that may use our search server."""

    def chat_messages(self) -> list[dict[str, str]]:
        """Return the whole conversation as chat messages, oldest first."""
        roles = {"user": "user", "agent": "assistant"}
        history = [{"role": roles[m.role], "content": m.text} for m in self.history]
        return [*history, {"role": "user", "content": self.prompt}]


class JobStatus(Frozen):
    """The status of a job, as last reported."""

    remote_id: str | None
    """The provider's id; None where the answer came at once and nothing can be polled."""
    remote_state: ForeignText
    """The provider's own word for the state."""
    ended: bool
    """False for every state that is not known to be final: such jobs are polled again."""
    raw: ForeignText | None = None
    """The whole answer as received, once the job has ended, successfully or not."""


class Annotation(Frozen):
    """A span of the text that cites a source."""

    start: int | None
    """Offset in characters; None where unknown, or outside the text."""
    end: int | None
    """Offset of the span's end, exclusive."""
    url: ForeignText
    title: ForeignText | None = None


class ReportSource(Frozen, extra="ignore"):
    """One entry of a list of sources; the n-th is what `[n]` in the text refers to."""

    url: ForeignText
    title: ForeignText | None = None


MAX_INTEGER = 2**63 - 1
"""The largest integer that the warehouse can store."""
Count = Annotated[int, Field(ge=0, le=MAX_INTEGER, strict=True)]


class AgentUsage(Frozen, extra="ignore"):
    """What a report consumed, as the provider counts it; None where it does not say."""

    input_tokens: Count | None = None
    """Input tokens, including cached ones."""
    cached_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    """Input tokens written to a cache."""
    cache_write_hour_tokens: Count | None = None
    """Those of them that are kept for an hour."""
    output_tokens: Count | None = None
    """Output tokens, without reasoning."""
    reasoning_tokens: Count | None = None
    citation_tokens: Count | None = None
    """Tokens of the pages read, where they are billed separately."""
    searches: Count | None = None


class JobAnswer(Frozen):
    """The answer of an ended job, in one form for every provider."""

    outcome: Literal["report", "question", "failed"]
    """`question` only where the provider says that it waits for a reply; a report may still
    turn out to be a question."""
    text: ForeignText = ""
    """The agent's text with its citation markers; for a failed report, as far as it got."""
    annotations: tuple[Annotation, ...] = ()
    marker_placement: Literal["after", "instead"] = "after"
    """`after`: an annotation's span is the text that the source supports. `instead`: the span
    is a link, which the marker replaces."""
    sources: tuple[ReportSource, ...] = ()
    """The list that `[n]` in the text refers to, where the interface returns it separately."""
    trace: tuple[SearchStep, ...] = ()
    n_reasoning_steps: int | None = None
    model_version: ForeignText | None = None
    usage: AgentUsage = AgentUsage()
    cost_usd: float | None = None
    """The cost that the interface reports; None where it reports none."""
    error: ForeignText | None = None
    """Why the job failed."""
    silent: bool = False
    """Whether the agent itself ended without a report, by an empty answer or a refusal: nothing
    broke, was cut or was stopped by others."""


class Gone(ModelError):
    """The provider does not know the job: it has expired, was deleted, or is not shown yet."""


class UnreadableJobAnswer(ModelError):
    """An answer in an unknown form; the message says what was expected."""


class AgentClient(Protocol):
    """A client of one agent."""

    async def start(self, request: JobRequest) -> JobStatus:
        """Buy one report. Sends exactly one request and never retries it.

        Raises:
            TransientError: with `maybe_billed`, a job may have been created; without it, none was,
                and the request may be sent again.
            RequestRejected: the request was refused; nothing was bought.
            StopStage: no request can succeed now; nothing was bought.
        """

    async def poll(self, remote_id: str) -> JobStatus:
        """Return the status of a job, at no cost.

        Raises:
            TransientError: poll again later.
            Gone: it is not found; a new job may be later.
            StopStage: as for `start`.
        """

    async def check(self) -> str:
        """Make one cheap call and describe the result, without the agent's name.

        Raises:
            ModelError: the check failed; the message says what to do.
        """

    async def close(self) -> None:
        """Close all connections. Jobs in progress continue."""
