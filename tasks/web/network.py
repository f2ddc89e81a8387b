"""Telling pages that cannot be had from a network, or a service, that is gone.

Failures are kept for ever, so a dead network must not become thousands of them. Pages that could
not be reached are held until another comes. When those of many hosts are held and none has come
for a while, something is asked for that must be there: a server that has answered before, or of
a service a page that everybody has. If that does not come either, all stops.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from math import inf
from time import monotonic

from tasks.web.errors import NoNetwork, WebStopped
from tasks.web.page import Fetched, Wanted
from tasks.web.ways import Finding

OnFetched = Callable[[Wanted, Fetched], Awaitable[None]]


@dataclass(frozen=True)
class Suspicion:
    """When it is no longer the pages that are to blame."""

    hosts: int
    """Different ones, of pages in a row that could not be reached."""
    answers: Callable[[str | None], Awaitable[bool]]
    """Whether all is well now, given an address whose server answered last, if there is one."""
    stopped: Callable[[str], WebStopped]
    """What to raise, given what was seen."""


def of_network(reaches: Callable[[str], Awaitable[bool]]) -> Suspicion:
    """That this machine is cut off."""

    async def answers(address: str | None) -> bool:
        return address is not None and await reaches(address)

    def stopped(seen: str) -> WebStopped:
        return NoNetwork(
            f"No host could be reached, of {seen}. Is this machine connected? These pages count "
            "as not asked for; run the same command again when it is."
        )

    return Suspicion(10, answers, stopped)


class Network:
    """Hands on what came of pages, once it is known that the network is not to blame.

    Args:
        on_fetched: who is handed the pages.
        suspicion: when to stop instead.
        answered: an address whose server answered in an earlier run, if there is one.
        patience_seconds: hosts that do not exist are known in no time, those that answer are not.
    """

    def __init__(
        self,
        on_fetched: OnFetched,
        suspicion: Suspicion,
        answered: str | None,
        patience_seconds: float,
    ) -> None:
        self._on_fetched = on_fetched
        self._suspicion = suspicion
        self._answered = answered
        self._patience = patience_seconds
        self._held: list[tuple[Wanted, Finding, str]] = []
        self._asking = asyncio.Lock()

    async def note(self, wanted: Wanted, finding: Finding, host: str) -> None:
        """A page of a host is done.

        Raises:
            WebStopped: nothing can be reached; the pages that are held are not handed on.
        """
        if finding.reached is False:
            self._held.append((wanted, finding, host))
            async with self._asking:
                if self._held and monotonic() - self._held[0][1].at >= self._patience:
                    await self._ask()
            return
        if finding.reached:
            self._answered = finding.fetched.final_url or self._answered
            await self._settle(finding.at)
        await self._on_fetched(wanted, finding.fetched)

    async def finish(self) -> None:
        """All pages are done.

        Raises:
            WebStopped: as `note`.
        """
        await self._ask()
        await self._settle(inf)

    async def _settle(self, until: float) -> None:
        """Hand on what is held, of what had failed by then: the network was there afterwards."""
        settled = [held for held in self._held if held[1].at <= until]
        self._held = [held for held in self._held if held[1].at > until]
        for wanted, finding, _ in settled:
            await self._on_fetched(wanted, finding.fetched)

    async def _ask(self) -> None:
        """Make sure that the network is there, if there is reason to doubt it."""
        hosts = {host for *_, host in self._held}
        if len(hosts) < self._suspicion.hosts:
            return
        if not await self._suspicion.answers(self._answered):
            last = self._held[-1][1].fetched.error
            raise self._suspicion.stopped(f"{len(hosts)} in a row; the last: {last}")
        await self._settle(inf)
