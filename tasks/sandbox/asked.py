"""What each token asked the sandbox for, so that leakage by reading can be seen.

One small SQLite file next to the index: the server opens no warehouse. Whoever asked the agents
reads it over HTTP and keeps it (`search_traces`).
"""

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from tasks.base import Frozen
from tasks.sandbox.tokens import SandboxToken

FILE = "asked.sqlite"
MAX_ROWS = 50_000
"""The most that one answer lists of a job."""
_TABLE = """
CREATE TABLE IF NOT EXISTS asked (
    edition TEXT NOT NULL, assignment TEXT NOT NULL, agent TEXT NOT NULL, job TEXT NOT NULL,
    asked_at TEXT NOT NULL, call TEXT NOT NULL, argument TEXT NOT NULL, outcome TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS asked_by_job ON asked (job);
"""


class Asked(Frozen):
    """One request."""

    asked_at: str
    """UTC, ISO 8601."""
    call: Literal["search", "fetch"]
    argument: str
    """The query, or the URL."""
    outcome: str
    """`served`, or the reason of the refusal: `banned`, `later`, `not_archived`, …"""


class AskedStore:
    """The requests of all tokens."""

    def __init__(self, folder: Path) -> None:
        self._connection = sqlite3.connect(folder / FILE, timeout=30, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.executescript(_TABLE)

    def add(self, token: SandboxToken, call: str, argument: str, outcome: str) -> None:
        """Keep one request."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        values = (token.edition, token.assignment, token.agent, token.job,
                  now, call, argument, outcome)  # fmt: skip
        self._connection.execute("INSERT INTO asked VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)

    def read(self, job: str) -> list[Asked]:
        """Return the requests of a job, in their order."""
        rows = self._connection.execute(
            "SELECT asked_at, call, argument, outcome FROM asked WHERE job = ? "
            "ORDER BY rowid LIMIT ?",
            (job, MAX_ROWS),
        )
        return [
            Asked(asked_at=at, call=call, argument=argument, outcome=outcome)
            for at, call, argument, outcome in rows
        ]
