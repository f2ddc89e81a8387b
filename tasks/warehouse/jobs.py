"""The rows of reports that are bought or brought: jobs, kept files, what collecting cost."""

from typing import ClassVar, Literal

from pydantic import Field

from tasks.warehouse.rows import Row, UtcDatetime, utc_now

JobState = Literal[
    "sending", "running", "answered", "done", "failed", "overdue", "refused", "lost", "abandoned"
]


class Job(Row):
    """One report asked of an agent: the intention is kept before the request leaves."""

    table: ClassVar[str] = "jobs"
    key: ClassVar[tuple[str, ...]] = ("job",)

    job: str
    """Our own name for it."""
    edition: str
    agent: str
    assignment: str
    attempt: int
    """1-based; a later one was asked because a person gave up the one before."""
    turn: int = 1
    """2: the reply to the agent's question."""
    kind: str
    """How it is asked: the kind of the agent's entry in configs/agents.yaml."""
    model: str | None = None
    parameters: str
    """JSON, keys sorted: how it was asked."""
    prompt: str
    """What was said in this turn."""
    prompt_sha: str
    state: JobState
    """`sending`: the request is about to leave, or has left (found by a later run: `lost`).
    `running`: the provider has it. `answered`: its answer is kept. `done`: the report is made of
    it. `failed`: it ended without a report. `overdue`: it has not ended in time; each run looks
    once more. `refused`: nothing was bought, the next run asks again. `lost`: sent, and nobody
    knows what became of it. `abandoned`: a person said to ask again."""
    remote_id: str | None = None
    """As the provider names it."""
    remote_word: str | None = None
    """The provider's word for its state, as last seen."""
    polls: int = 0
    """Times somebody looked whether it has ended."""
    answer: str | None = None
    """As it came."""
    error: str | None = None
    model_version: str | None = None
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    citation_tokens: int | None = None
    """Tokens of cited text, where the provider counts them."""
    searches: int | None = None
    """That the agent says it made."""
    reasoning_steps: int | None = None
    """That the agent says it took."""
    cost_usd: float | None = None
    cost_source: Literal["interface", "prices"] | None = None
    """Who says what it cost."""
    created_at: UtcDatetime = Field(default_factory=utc_now)
    polled_at: UtcDatetime | None = None
    """The last time (UTC)."""
    finished_at: UtcDatetime | None = None


class ReportFile(Row):
    """A file that a report came as, or an image in it: kept as it was, under its sha."""

    table: ClassVar[str] = "report_files"
    key: ClassVar[tuple[str, ...]] = ("edition", "agent", "assignment", "number")

    edition: str
    agent: str
    assignment: str
    number: int
    """0: the file itself; from 1: the images in it, in order."""
    name: str
    """The file's name; of an image what the text calls it."""
    media_type: str
    sha: str
    """Sha-256 of its bytes: its name in the folder of files beside the warehouse."""
    n_bytes: int
    n_pages: int | None = None
    """Of a PDF; null of what has none."""
    n_unreadable_pages: int | None = None
    """Pages without any text that could be read (scans)."""
    reader: str
    """What made the text of it, with its version."""


class CollectionCost(Row):
    """What it cost people to get a report: entered by hand."""

    table: ClassVar[str] = "collection_costs"
    key: ClassVar[tuple[str, ...]] = ("edition", "agent", "assignment")

    edition: str
    agent: str
    assignment: str
    usd: float | None = None
    minutes: float | None = None
    """Of a person's time."""
    note: str | None = None
    """In that person's words."""
    entered_at: UtcDatetime = Field(default_factory=utc_now)
    """When it was entered (UTC)."""
