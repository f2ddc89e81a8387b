"""Tell unreachable pages from a dead network or a service that is down.

A network outage must not turn into failures of pages, be it one page or thousands. Unreachable
pages are held back until another page is reached. If none has been reached for a while, or by the
end, a probe follows: a server that answered before, or a page that every service has. If the probe
fails as well, fetching stops.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from math import inf
from time import monotonic

from tasks.base import format_count
from tasks.web.page import FetchResult, PageRequest
from tasks.web.sources import WebSource

OnFetched = Callable[[PageRequest, FetchResult], Awaitable[None]]


class OutageDetector:
    """Passes results on once it is known that the network is not to blame.

    Args:
        on_fetched: receives the results.
        source: where the pages are from; it decides when to stop instead.
        answered: URLs whose servers are known to answer.
        patience_seconds: how long to wait before probing; missing hosts fail faster than others
            answer.
    """

    def __init__(
        self,
        on_fetched: OnFetched,
        source: WebSource,
        answered: Sequence[str],
        patience_seconds: float,
    ) -> None:
        self._on_fetched = on_fetched
        self._source = source
        self._answered = answered
        self._last_answered: list[str] = []
        self._patience = patience_seconds
        self._held: list[tuple[PageRequest, FetchResult, str]] = []
        self._lock = asyncio.Lock()

    async def add(self, wanted: PageRequest, found: FetchResult, host: str) -> None:
        """Add the result of a page of `host`.

        Raises:
            FetchingStopped: nothing can be reached; the held results are not passed on.
        """
        if found.is_unreached or found.reached is False:
            self._held.append((wanted, found, host))
            async with self._lock:
                if self._held and monotonic() - self._held[0][1].known_at >= self._patience:
                    await self._raise_if_down()
            return
        if found.reached:
            self._last_answered = [found.final_url] if found.final_url else []
            await self._release(found.known_at)
        await self._on_fetched(wanted, found)

    async def finish(self) -> None:
        """Pass on all held results after the last page.

        Raises:
            FetchingStopped: as `add`.
        """
        await self._raise_if_down()
        await self._release(inf)

    async def _release(self, until: float) -> None:
        """Pass on held results that failed before `until`: the network was up afterwards."""
        settled = [held for held in self._held if held[1].known_at <= until]
        self._held = [held for held in self._held if held[1].known_at > until]
        for wanted, found, _ in settled:
            await self._on_fetched(wanted, found)

    async def _raise_if_down(self) -> None:
        """Probe the network if pages are held; raise if it is down."""
        if not self._held:
            return
        if not await self._source.is_up([*self._last_answered, *self._answered]):
            hosts = format_count(len({host for *_, host in self._held}), "host")
            last = self._held[-1][1].error
            raise self._source.make_outage_error(f"{hosts} tried; the last: {last}")
        await self._release(inf)
