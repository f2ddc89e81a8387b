"""Tell unreachable pages from a dead network or a service that is down.

Failures are stored permanently, so a network outage must not turn into thousands of them.
Unreachable pages are held back until another page is reached. If pages of many hosts are held
and none has been reached for a while, a probe follows: a server that answered before, or a page
that every service has. If the probe fails as well, fetching stops.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from math import inf
from time import monotonic

from tasks.web.errors import FetchingStopped, NoNetwork
from tasks.web.page import FetchResult, PageRequest
from tasks.web.sources import SourceResult

OnFetched = Callable[[PageRequest, FetchResult], Awaitable[None]]


@dataclass(frozen=True)
class OutageCheck:
    """How to decide that an outage, not the pages, is to blame."""

    min_hosts: int
    """Number of hosts with unreachable pages, in a row, that calls for a probe."""
    is_up: Callable[[str | None], Awaitable[bool]]
    """Probe the network, given the last URL whose server answered, if any."""
    make_error: Callable[[str], FetchingStopped]
    """Make the error to raise, given a description of the failures."""


def make_network_check(is_reachable: Callable[[str], Awaitable[bool]]) -> OutageCheck:
    """Return the check for this machine being offline."""

    async def is_up(address: str | None) -> bool:
        return address is not None and await is_reachable(address)

    def make_error(seen: str) -> FetchingStopped:
        return NoNetwork(
            f"No host could be reached, of {seen}. Is this machine online? These pages stay "
            "pending; run the same command again when it is."
        )

    return OutageCheck(10, is_up, make_error)


class OutageDetector:
    """Passes results on once it is known that the network is not to blame.

    Args:
        on_fetched: receives the results.
        check: decides when to stop instead.
        answered: a URL whose server answered in an earlier run, if any.
        patience_seconds: how long to wait before probing; missing hosts fail faster than others
            answer.
    """

    def __init__(
        self,
        on_fetched: OnFetched,
        check: OutageCheck,
        answered: str | None,
        patience_seconds: float,
    ) -> None:
        self._on_fetched = on_fetched
        self._check = check
        self._answered = answered
        self._patience = patience_seconds
        self._held: list[tuple[PageRequest, SourceResult, str]] = []
        self._lock = asyncio.Lock()

    async def add(self, wanted: PageRequest, found: SourceResult, host: str) -> None:
        """Add the result of a page of `host`.

        Raises:
            FetchingStopped: nothing can be reached; the held results are not passed on.
        """
        if found.reached is False:
            self._held.append((wanted, found, host))
            async with self._lock:
                if self._held and monotonic() - self._held[0][1].at >= self._patience:
                    await self._raise_if_down()
            return
        if found.reached:
            self._answered = found.fetched.final_url or self._answered
            await self._release(found.at)
        await self._on_fetched(wanted, found.fetched)

    async def finish(self) -> None:
        """Pass on all held results after the last page.

        Raises:
            FetchingStopped: as `add`.
        """
        await self._raise_if_down()
        await self._release(inf)

    async def _release(self, until: float) -> None:
        """Pass on held results that failed before `until`: the network was up afterwards."""
        settled = [held for held in self._held if held[1].at <= until]
        self._held = [held for held in self._held if held[1].at > until]
        for wanted, found, _ in settled:
            await self._on_fetched(wanted, found.fetched)

    async def _raise_if_down(self) -> None:
        """Probe the network if enough hosts were unreachable; raise if it is down."""
        hosts = {host for *_, host in self._held}
        if len(hosts) < self._check.min_hosts:
            return
        if not await self._check.is_up(self._answered):
            last = self._held[-1][1].fetched.error
            raise self._check.make_error(f"{len(hosts)} in a row; the last: {last}")
        await self._release(inf)
