"""Rows of requested and imported reports: jobs, report files, collection costs, import issues."""

from datetime import timedelta
from typing import Literal

from pydantic import Field

from tasks.warehouse.rows import BigInt, Row, UtcDatetime, utc_now

GONE_AFTER = timedelta(minutes=15)
"""How old a job must be before its provider's "not found" is believed: some show a job late."""
JobState = Literal[
    "sending", "running", "answered", "done", "failed", "overdue", "refused", "lost", "abandoned"
]


class Job(Row):
    """One request to an agent for a report; written before the request is sent."""

    table = "jobs"
    key = ("job",)

    job: str
    """Our id for it."""
    edition: str
    agent: str
    assignment: str
    attempt: int
    """1-based; a new attempt follows one that a person abandoned."""
    turn: int = 1
    """1, or 2 for the reply to the agent's question."""
    kind: str
    """The kind of the agent's entry in configs/agents.yaml."""
    model: str | None = None
    parameters: str
    """JSON of the request's parameters, keys sorted."""
    prompt: str
    """The prompt of this turn."""
    prompt_sha: str
    state: JobState
    """`sending`: about to be sent, or sent (a later run makes it `lost`). `running`: accepted by
    the provider. `answered`: the answer is stored. `done`: the report is made from it. `failed`:
    ended without a report. `overdue`: not ended in time; each run checks once more. `refused`:
    nothing was paid, the next run asks again. `lost`: sent, with unknown outcome. `abandoned`: a
    person decided to ask again."""
    remote_id: str | None = None
    """The provider's id."""
    remote_word: str | None = None
    """The provider's state, as last seen."""
    polls: int = 0
    """The number of status checks."""
    answer: str | None = None
    """The answer as received."""
    error: str | None = None
    model_version: str | None = None
    input_tokens: BigInt | None = None
    cached_tokens: BigInt | None = None
    cache_write_tokens: BigInt | None = None
    cache_write_hour_tokens: BigInt | None = None
    output_tokens: BigInt | None = None
    reasoning_tokens: BigInt | None = None
    citation_tokens: BigInt | None = None
    """Tokens of cited text, if the provider counts them."""
    searches: int | None = None
    """Searches that the agent says it made."""
    reasoning_steps: int | None = None
    """Reasoning steps that the agent says it took."""
    cost_usd: float | None = None
    cost_source: Literal["interface", "prices"] | None = None
    """Where the cost is from: the agent's API, or our prices."""
    created_at: UtcDatetime = Field(default_factory=utc_now)
    polled_at: UtcDatetime | None = None
    """The last status check (UTC)."""
    finished_at: UtcDatetime | None = None

    @property
    def may_appear(self) -> bool:
        """Whether it failed only because its provider did not show it when it was new."""
        if self.state != "failed" or self.answer is not None or self.remote_id is None:
            return False
        return self.finished_at is not None and self.finished_at < self.created_at + GONE_AFTER


class ReportFile(Row):
    """The file of a report, or an image in it, kept unchanged under its sha-256."""

    table = "report_files"
    key = ("edition", "agent", "assignment", "number")

    edition: str
    agent: str
    assignment: str
    number: int
    """0: the file; from 1: the images in it, in order."""
    name: str
    """The file's name; for an image its name in the text."""
    media_type: str
    sha: str
    """Sha-256 of its bytes: its name in the folder of files beside the warehouse."""
    n_bytes: BigInt
    n_pages: int | None = None
    """Pages of a PDF; null for other files."""
    n_unreadable_pages: int | None = None
    """Pages without readable text (scans)."""
    reader: str
    """What extracted the text, with its version."""


class CollectionCost(Row):
    """The cost of collecting a report by hand, as a person entered it."""

    table = "collection_costs"
    key = ("edition", "agent", "assignment")

    edition: str
    agent: str
    assignment: str
    usd: float | None = None
    minutes: float | None = None
    """Minutes of a person's time."""
    note: str | None = None
    """That person's note."""
    entered_at: UtcDatetime = Field(default_factory=utc_now)
    """When it was entered (UTC)."""


class ImportIssue(Row):
    """Something that an import could not read, or a remark."""

    table = "import_issues"
    key = ("edition", "scope", "path", "kind")

    edition: str
    scope: str = ""
    """The agent whose files it concerns; empty for the edition's own."""
    path: str
    """The path in the imported folder."""
    kind: str
    """The kind of issue, such as `not_utf8`."""
    severity: Literal["unreadable", "remark"]
    """`unreadable`: left out of the edition; `remark`: imported nevertheless."""
    message: str
    """The message."""
