"""A batch job that moves on when it is looked at, to the end that a test has chosen."""

from dataclasses import dataclass, field
from typing import Any, Literal

End = Literal["succeeded", "failed", "cancelled", "expired"]


@dataclass(frozen=True)
class BatchScript:
    """How a server's batches go."""

    polls: int = 1
    """Looks at a batch until it has ended; 0: it has when it is created."""
    ends: End = "succeeded"
    lost_replies: int = 0
    """The first so many batches are taken, but the reply that names them is lost."""


@dataclass
class Batch:
    """One job."""

    batch_id: str
    model: str
    about: dict[str, Any]
    """What the one who made it attached: a display name, metadata."""
    items: list[tuple[str, dict[str, Any]]]
    """(key, request body)."""
    source_file: str | None = None
    polls: int = 0
    result: dict[str, Any] | None = None
    """What it has to show at its end, made once: a look buys nothing."""


@dataclass
class BatchDesk:
    """All jobs and files of a server."""

    script: BatchScript
    jobs: dict[str, Batch] = field(default_factory=dict)
    """Without those that a test takes out, as a provider does after some weeks."""
    files: dict[str, bytes] = field(default_factory=dict)
    n_made: int = 0

    def add(self, batch: Batch) -> bool:
        """Take a job; whether the reply that names it shall arrive."""
        self.jobs[batch.batch_id] = batch
        self.n_made += 1
        return self.n_made > self.script.lost_replies

    def look(self, batch: Batch) -> None:
        batch.polls += 1

    def end_of(self, batch: Batch) -> End | None:
        """How the job ended; None: it has not."""
        return self.script.ends if batch.polls >= self.script.polls else None

    def store(self, data: bytes, prefix: str) -> str:
        """Keep a file; its name."""
        name = f"{prefix}{len(self.files) + 1}"
        self.files[name] = data
        return name

    def page(self, size: int, after: str | None) -> tuple[list[Batch], bool]:
        """Up to `size` jobs, the newest first, from behind `after`; whether there are more."""
        newest = list(reversed(self.jobs.values()))
        start = next((i + 1 for i, job in enumerate(newest) if job.batch_id == after), 0)
        return newest[start : start + size], len(newest) > start + size
