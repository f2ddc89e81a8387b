"""What is known of one page, written down while it is asked for, so that it outlives errors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic

from tasks.warehouse.pages import FetchOutcome, FetchSource
from tasks.warehouse.rows import storable
from tasks.web.bodies import Kept
from tasks.web.errors import shown
from tasks.web.page import KEPT_HEADERS, Fetched, Hop

MOST_VALUE, MOST_ERROR = 500, 500
"""Characters of a header and of an error that are kept."""


@dataclass
class Trail:
    """One page on its way, in one source."""

    source: FetchSource
    asked: str
    tries: int = 0
    """Visits that a server was asked in."""
    url: str | None = None
    """Where the redirects have led so far; null until a server has answered."""
    hops: list[Hop] = field(default_factory=list)
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    answered_at: float | None = None
    """When a server last said something, on the monotonic clock."""
    _started: float = field(default_factory=monotonic)

    def begin(self) -> None:
        """Another visit."""
        self.url, self.hops, self.status, self.headers = None, [], None, {}

    def arrive(self, url: str, status: int, headers: Mapping[str, str]) -> None:
        """A server has answered. Repeated headers are kept as the library lists them."""
        self.url, self.status, self.answered_at = url, status, monotonic()
        self.headers = {
            name.lower(): storable(value[:MOST_VALUE])
            for name, value in headers.items()
            if name.lower() in KEPT_HEADERS
        }

    def done(
        self, outcome: FetchOutcome, *, kept: Kept | None = None, error: str | None = None
    ) -> Fetched:
        """What came of the page, as far as it is known."""
        return Fetched(
            source=self.source,
            asked_url=self.asked,
            outcome=outcome,
            final_url=self.url,
            redirects=tuple(self.hops),
            http_status=self.status,
            headers=self.headers,
            sha=kept.sha if kept else None,
            n_bytes=kept.n_bytes if kept else None,
            tries=self.tries,
            error=shown(error, MOST_ERROR) if error else None,
            seconds=monotonic() - self._started,
        )
