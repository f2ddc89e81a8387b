"""The audit: who changed the warehouse, when and how. Rows are added and completed, never removed.

While another process owns a file, a row waits as a note beside it (`audit/<its name>`); whoever
opens or closes the warehouse next takes it in.
"""

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from uuid import uuid4

from pydantic import Field, ValidationError

from tasks.files.opening import open_file
from tasks.warehouse.location import Location
from tasks.warehouse.rows import Row, UtcDatetime, utc_now

LARGEST_NOTE = 1_000_000
"""Bytes; parameters are cut long before."""
Outcome = Literal["begun", "ok", "incomplete", "failed"]


class AuditEntry(Row):
    """A command or run that changed the warehouse, or published, copied or restored it."""

    table = "audit"
    key = ("audit_id",)
    append_only = True

    audit_id: str = Field(default_factory=lambda: str(uuid4()))
    """A uuid."""
    began_at: UtcDatetime = Field(default_factory=utc_now)
    """When it began (UTC)."""
    version: str
    """Evergreen's version."""
    kind: Literal["command", "flow"]
    """A command that somebody typed, or a flow that a Prefect deployment ran."""
    name: str
    """The command or flow, e.g. `import wlc`."""
    os_user: str
    """The operating system's user, whatever the environment says."""
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
    outcome: Outcome = "begun"
    """`begun`: at work, or killed. `incomplete`: something is pending."""
    error: str | None = None
    """The class of the error; null without one."""
    ended_at: UtcDatetime | None = None
    """When it ended (UTC); null until then."""
    seconds: float | None = None
    """How long it took."""

    def end(self, outcome: Outcome, error: str | None = None) -> "AuditEntry":
        """Return the row of what has now ended."""
        now = utc_now()
        ended = {"outcome": outcome, "error": error, "ended_at": now}
        return self.model_copy(update={**ended, "seconds": (now - self.began_at).total_seconds()})


@dataclass
class Activity:
    """What this process does on somebody's behalf in one warehouse, and its row in the audit."""

    entry: AuditEntry
    where: Location
    at_once: bool = False
    """Recorded even if it writes no row, such as a backup."""
    is_noted: bool = False
    """Whether its row waits as a note."""
    commits: list[Future[None]] = field(default_factory=list)
    """Commits with its row, done or not."""

    @property
    def is_recorded(self) -> bool:
        """Whether its row, or a note of it, is kept."""
        ended = [each for each in self.commits if each.done() and not each.cancelled()]
        return self.is_noted or any(each.exception() is None for each in ended)


_current: Activity | None = None


def get_activity() -> Activity | None:
    """Return what this process does on somebody's behalf; None if it is not known."""
    return _current


def set_activity(activity: Activity | None) -> None:
    """Say what this process does from now on. One at a time: any of its threads may write."""
    global _current  # noqa: PLW0603
    _current = activity


def notes_folder(where: Location) -> Path:
    """Return the folder of a warehouse's notes: `audit/<its name>` beside it."""
    return where.subfolder("audit")


def leave_note(where: Location, entry: AuditEntry) -> None:
    """Keep a row beside the warehouse until a process that has it open takes it in."""
    folder = notes_folder(where)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    state = "begun" if entry.ended_at is None else "ended"
    note = folder / f"{entry.audit_id}.{state}.json"
    draft = note.with_suffix(".new")
    draft.touch(mode=0o600)
    draft.write_text(entry.model_dump_json(), "utf-8")
    draft.replace(note)


def read_notes(where: Location) -> Iterator[tuple[Path, AuditEntry]]:
    """Yield the notes that wait, in the order of their states; what is no note is left out."""
    folder = notes_folder(where)
    for path in sorted(folder.glob("*.json")):
        try:
            with open_file(path, within=folder) as file:
                yield path, AuditEntry.model_validate_json(file.read(LARGEST_NOTE))
        except (OSError, ValidationError):
            continue
