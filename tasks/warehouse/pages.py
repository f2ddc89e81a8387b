"""Rows of fetches: how cited pages were fetched."""

from typing import ClassVar, Literal

from pydantic import Field

from tasks.warehouse.rows import BigInt, Row, UtcDatetime, utc_now

FetchSource = Literal["direct", "jina", "wayback"]
"""The page's own server, Jina Reader, or the Wayback Machine's nearest copy."""

FetchOutcome = Literal["fetched", "failed", "refused", "robots", "too_large"]
"""`fetched`: a complete answer, with any HTTP status. `failed`: no answer in all tries. `refused`:
the URL, or a redirect's target, is not allowed. `robots`: the site's robots.txt forbids it.
`too_large`: more bytes than the limit."""


class Fetch(Row):
    """One fetch of a page from one source: done once, kept for ever."""

    table: ClassVar[str] = "fetches"
    key: ClassVar[tuple[str, ...]] = ("edition", "url", "source")

    edition: str
    url: str
    """The page's key: its normalised URL."""
    source: FetchSource
    """Where it was fetched from."""
    asked_url: str
    """The requested URL, as a report wrote it."""
    outcome: FetchOutcome
    """The outcome."""
    final_url: str | None = None
    """The URL at the end of the redirects."""
    redirects: str = "[]"
    """JSON, in order: `[{"status": 301, "url": "target"}, …]`."""
    http_status: int | None = None
    """HTTP status of the last answer; null if there was none."""
    headers: str = "{}"
    """JSON: response headers on the page's type and age, and on what blocked the request."""
    sha: str | None = None
    """Sha-256 of the decoded body, which is in the folder of pages."""
    n_bytes: BigInt | None = None
    tries: int = 1
    """The number of requests."""
    error: str | None = None
    fetched_at: UtcDatetime = Field(default_factory=utc_now)
    seconds: float = 0.0
    """Seconds for all tries and the waits between them."""
