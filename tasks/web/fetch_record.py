"""Record what is learned about a page while it is fetched, so that it survives errors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic

from tasks.warehouse.pages import FetchOutcome, FetchSource
from tasks.warehouse.rows import replace_surrogates
from tasks.web.bodies import StoredBody
from tasks.web.errors import printable
from tasks.web.page import KEPT_HEADERS, FetchResult, Redirect

MAX_HEADER_CHARACTERS, MAX_ERROR_CHARACTERS = 500, 500
"""Longest header value and error that are kept."""


@dataclass
class FetchRecord:
    """What is known so far about one page from one source."""

    source: FetchSource
    asked_url: str
    tries: int = 0
    """Tries in which a server was asked."""
    url: str | None = None
    """Where the redirects have led so far; None until a server has answered."""
    redirects: list[Redirect] = field(default_factory=list)
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    answered_at: float | None = None
    """When a server last answered, on the monotonic clock."""
    _started: float = field(default_factory=monotonic)

    def begin_try(self) -> None:
        """Forget the last answer before another try."""
        self.url, self.redirects, self.status, self.headers = None, [], None, {}

    def add_answer(self, url: str, status: int, headers: Mapping[str, str]) -> None:
        """Record a server's answer. Repeated headers are kept as the library lists them."""
        self.url, self.status, self.answered_at = url, status, monotonic()
        self.headers = {
            name.lower(): replace_surrogates(value[:MAX_HEADER_CHARACTERS])
            for name, value in headers.items()
            if name.lower() in KEPT_HEADERS
        }

    def to_result(
        self, outcome: FetchOutcome, *, body: StoredBody | None = None, error: str | None = None
    ) -> FetchResult:
        """Return the result, with everything known about the page."""
        return FetchResult(
            source=self.source,
            asked_url=self.asked_url,
            outcome=outcome,
            final_url=self.url,
            redirects=tuple(self.redirects),
            http_status=self.status,
            headers=self.headers,
            sha=body.sha if body else None,
            n_bytes=body.n_bytes if body else None,
            tries=self.tries,
            error=printable(error, MAX_ERROR_CHARACTERS) if error else None,
            seconds=monotonic() - self._started,
        )
