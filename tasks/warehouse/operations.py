"""What was done with a warehouse, where no other row tells: sites, months, fetches and backups.

Rows of these tables are in no snapshot, which more people read than the warehouse.
"""

from typing import Literal

from pydantic import Field

from tasks.warehouse.rows import Row, UtcDatetime, utc_now


class Publication(Row):
    """A site of an edition: that it was written, or that a person was asked to approve it."""

    table = "publications"
    key = ("edition", "published_at")

    edition: str
    published_at: UtcDatetime = Field(default_factory=utc_now)
    """When (UTC)."""
    folder: str
    """The site's folder, as it was given."""
    judges: str = "[]"
    """The judges whose figures it shows, as JSON; all if empty."""
    is_written: bool = True
    """Whether it was written; else a person was asked."""


class MonthRefresh(Row):
    """A `refresh` of a month, and whether it left something."""

    table = "refreshes"
    key = ("edition", "began_at")

    edition: str
    """The month's edition; empty for the month in which it began (earlier versions)."""
    began_at: UtcDatetime = Field(default_factory=utc_now)
    """When it began (UTC)."""
    options: str
    """The options that were given, as JSON."""
    outcome: Literal["begun", "incomplete", "ok"] = "begun"
    """`begun`: at work, failed or killed. `incomplete`: something is pending."""


class FetchedEdition(Row):
    """When the pages of an edition were last fetched."""

    table = "fetched_editions"
    key = ("edition",)

    edition: str
    ended_at: UtcDatetime = Field(default_factory=utc_now)
    """When `fetch` ended (UTC)."""
    reports_sha: str
    """Sha-256 of the reports that there were when it began; others may cite other pages."""


REPORTS_SHA = """
coalesce(sha256(string_agg(concat_ws('/', agent, assignment, text_sha) ORDER BY agent, assignment)),
    '')
"""
"""SQL that hashes the reports of an edition."""


class KnownBackup(Row):
    """A backup of the warehouse file."""

    table = "backups"
    key = ("began_at",)

    began_at: UtcDatetime
    """When it began (UTC)."""
    place: str
    """Its folder or file, as it was given."""


class AuditEntry(Row):
    """A command or run of an earlier version, which kept them; nothing reads or writes it."""

    table = "audit"
    key = ("audit_id",)

    audit_id: str
    """A uuid."""
    began_at: UtcDatetime
    """When it began (UTC)."""
    version: str
    """Evergreen's version."""
    kind: Literal["command", "flow"]
    """A command that somebody typed, or a flow that a Prefect deployment ran."""
    name: str
    """The command or flow, e.g. `import wlc`."""
    os_user: str
    """The operating system's user."""
    host: str
    """The host's name."""
    deployment: str | None = None
    """The id of the Prefect deployment; null for commands."""
    flow_run: str | None = None
    """The id of the Prefect flow run; null for commands."""
    edition: str | None = None
    """The edition that was asked for, or several with commas between."""
    parameters: str
    """What was given, as JSON with keys sorted; secrets are `[hidden]`."""
    outcome: Literal["begun", "ok", "incomplete", "failed"]
    """`begun`: at work, or killed. `incomplete`: something is pending."""
    error: str | None = None
    """The class of the error; null without one."""
    ended_at: UtcDatetime | None = None
    """When it ended (UTC); null until then."""
    seconds: float | None = None
    """How long it took."""


UNCOUNTED = frozenset({KnownBackup.table, AuditEntry.table})
"""Tables whose rows are no content: a warehouse is empty without the others, and a backup adds one
to them."""
