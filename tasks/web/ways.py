"""What a way to pages is: the page's own server, or a service that has it."""

from dataclasses import dataclass, field
from time import monotonic
from typing import Protocol

from tasks.web.page import Fetched, Wanted


@dataclass(frozen=True)
class Finding:
    """What came of a page, and what that says about the network."""

    fetched: Fetched
    reached: bool | None = None
    """Whether a server was reached; null where that is not known."""
    at: float = field(default_factory=monotonic)
    """When that was known, on the monotonic clock."""


class Way(Protocol):
    async def fetch(self, wanted: Wanted) -> Finding:
        """Ask for one page, with all tries.

        Raises:
            LeftAlone: not this page, in this run.
            WebStopped: no page at all can be had in this way now.
            UnwritableWarehouse: the page could not be kept.
        """
