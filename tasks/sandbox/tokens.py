"""Tokens: who asks the sandbox, on behalf of which assignment, until when, and for what.

Each job of an agent gets one (JWT, HS256). Whoever issues tokens and the server that reads them
share a key: the variable EVERGREEN_SANDBOX_KEY, or a file next to the server's index.

What each token asked for is kept, so that leakage by reading can be seen: in one small SQLite file
next to the index, since the server opens no warehouse. Whoever asked the agents reads it over HTTP
and keeps it (`search_traces`).
"""

import os
import secrets
import sqlite3
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Literal

import jwt
from pydantic import ValidationError

from tasks.base import Frozen
from tasks.configuration.errors import ConfigurationError
from tasks.files.opening import read_or_make

KEY_VARIABLE = "EVERGREEN_SANDBOX_KEY"
KEY_FILE = "token-key"
MIN_KEY_CHARS = 16
ALGORITHM = "HS256"
ASKED_FILE = "asked.sqlite"
MAX_ROWS = 50_000
"""The most that one answer lists of a job."""
_TABLE = """
CREATE TABLE IF NOT EXISTS asked (
    edition TEXT NOT NULL, assignment TEXT NOT NULL, agent TEXT NOT NULL, job TEXT NOT NULL,
    asked_at TEXT NOT NULL, call TEXT NOT NULL, argument TEXT NOT NULL, outcome TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS asked_by_job ON asked (job);
"""


class InvalidToken(Exception):
    """A token was not made with this key, is damaged, or has expired; the message says which."""


class SandboxToken(Frozen, extra="ignore"):
    """What a token says of its bearer."""

    edition: str
    assignment: str
    agent: str
    job: str


class ReaderToken(Frozen, extra="ignore"):
    """A token of our own, to read what a job's token asked for."""

    reads: str
    """The job."""


def find_token_key(folder: Path) -> bytes:
    """Return the key for tokens. folder: where the file with the key is, or is made.

    Raises:
        ConfigurationError: the variable's value is too short, or others can read the file.
    """
    given = os.environ.get(KEY_VARIABLE, "").strip()
    if given:
        if len(given) < MIN_KEY_CHARS:
            raise ConfigurationError(
                f"{KEY_VARIABLE} is too short: whoever guesses it can make tokens. Set at least "
                f"{MIN_KEY_CHARS} characters, for example what `openssl rand -hex 24` prints."
            )
        return sha256(given.encode()).digest()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / KEY_FILE
    key, private = read_or_make(path, secrets.token_hex(32))
    if not private:
        raise ConfigurationError(
            f"{path} can be read by others than you: delete it and start the sandbox again."
        )
    if len(key) < MIN_KEY_CHARS:
        raise ConfigurationError(f"{path} holds no key: delete it and start the sandbox again.")
    return sha256(key.encode()).digest()


def issue_token(key: bytes, claims: SandboxToken | ReaderToken, lifetime: timedelta) -> str:
    """Make a token that expires after its lifetime."""
    expires = datetime.now(UTC) + lifetime
    return jwt.encode({**claims.model_dump(), "exp": expires}, key, ALGORITHM)


def read_token(key: bytes, text: str) -> SandboxToken | ReaderToken:
    """Read a token.

    Raises:
        InvalidToken: it cannot be accepted.
    """
    try:
        claims = jwt.decode(text, key, [ALGORITHM], options={"require": ["exp"]})
        if "reads" in claims:
            return ReaderToken.model_validate(claims)
        return SandboxToken.model_validate(claims)
    except jwt.ExpiredSignatureError:
        raise InvalidToken("The token has expired.") from None
    except (jwt.InvalidTokenError, ValidationError):
        raise InvalidToken("The token is not one of this sandbox.") from None


class Asked(Frozen):
    """What a token asked for: one request."""

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
        self._connection = sqlite3.connect(folder / ASKED_FILE, timeout=30, isolation_level=None)
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
