"""The interface of a page source: the page's own server, or a service that has the page."""

from dataclasses import dataclass, field
from time import monotonic
from typing import Protocol

from tasks.web.page import FetchResult, PageRequest


@dataclass(frozen=True)
class SourceResult:
    """The result of fetching a page, and what it tells about the network."""

    fetched: FetchResult
    reached: bool | None = None
    """Whether a server was reached; None if unknown."""
    at: float = field(default_factory=monotonic)
    """When this was known, on the monotonic clock."""


class WebSource(Protocol):
    async def fetch(self, wanted: PageRequest) -> SourceResult:
        """Fetch one page, with retries.

        Raises:
            PageDeferred: the page cannot be fetched in this run.
            FetchingStopped: no page at all can be fetched from this source now.
            UnwritableWarehouse: the page could not be stored.
        """
