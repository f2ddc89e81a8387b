"""Web pages as they were when somebody fetched them, and how they were had."""

from typing import ClassVar, Literal

from pydantic import Field

from tasks.warehouse.rows import Row, UtcDatetime, utc_now

FetchSource = Literal["direct", "jina", "wayback"]
"""The page's own server; Jina Reader; the Wayback Machine's snapshot that is nearest."""

FetchOutcome = Literal["fetched", "failed", "refused", "robots", "too_large"]
"""`fetched`: an answer came whole, whatever its HTTP status. `failed`: none in all tries.
`refused`: the address, or one it redirects to, is none that we ask. `robots`: the site forbids it.
`too_large`: more bytes than are kept."""


class Fetch(Row):
    """One page as it was had in one way: asked for once and kept for ever."""

    table: ClassVar[str] = "fetches"
    key: ClassVar[tuple[str, ...]] = ("edition", "url", "source")

    edition: str
    url: str
    """The page's key: its normalised address."""
    source: FetchSource
    """Which way."""
    asked_url: str
    """The address that was asked for, as a report wrote it."""
    outcome: FetchOutcome
    """What became of it."""
    final_url: str | None = None
    """Where the redirects ended."""
    redirects: str = "[]"
    """JSON, in order: `[{"status": 301, "url": "where it led"}, …]`."""
    http_status: int | None = None
    """Of the last answer; null where there was none."""
    headers: str = "{}"
    """JSON: those that say what the page is, how old it is, and who kept us out."""
    sha: str | None = None
    """Sha-256 of its bytes, content encoding undone; they lie in the folder of pages."""
    n_bytes: int | None = None
    tries: int = 1
    """Times it was asked for."""
    error: str | None = None
    fetched_at: UtcDatetime = Field(default_factory=utc_now)
    seconds: float = 0.0
    """Of the clock, all tries and waits between them."""
