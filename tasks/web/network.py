"""Telling pages that cannot be reached from a network that is gone.

Failures are kept for ever, so a dead network must not become thousands of them. Pages whose
hosts could not be reached are held until another host answers. When those of many hosts are
held and none has answered for a while, a server that has answered before is asked again; if it
does not answer, or there is none, all stops.
"""

import asyncio
from collections.abc import Awaitable, Callable
from math import inf
from time import monotonic

from tasks.web.errors import NoNetwork
from tasks.web.page import Fetched, Wanted
from tasks.web.ways import Finding

SUSPICIOUS_HOSTS = 10
OnFetched = Callable[[Wanted, Fetched], Awaitable[None]]


class Network:
    """Hands on what came of pages, once it is known that the network is not to blame.

    Args:
        on_fetched: who is handed the pages.
        answers: whether the server of an address can be reached.
        answered: an address whose server answered in an earlier run, if there is one.
        patience_seconds: hosts that do not exist are known in no time, those that answer are not.
    """

    def __init__(
        self,
        on_fetched: OnFetched,
        answers: Callable[[str], Awaitable[bool]],
        answered: str | None,
        patience_seconds: float,
    ) -> None:
        self._on_fetched = on_fetched
        self._answers = answers
        self._answered = answered
        self._patience = patience_seconds
        self._held: list[tuple[Wanted, Finding, str]] = []
        self._asking = asyncio.Lock()

    async def note(self, wanted: Wanted, finding: Finding, host: str) -> None:
        """A page of a host is done.

        Raises:
            NoNetwork: no host can be reached; the pages that are held are not handed on.
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
            NoNetwork: as `note`.
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
        if self._n_hosts() < SUSPICIOUS_HOSTS:
            return
        if self._answered is None or not await self._answers(self._answered):
            raise NoNetwork(
                f"No host could be reached, of {self._n_hosts()} in a row; the last: "
                f"{self._held[-1][1].fetched.error}. Is this machine connected? These pages count "
                "as not asked for; run the same command again when it is."
            )
        await self._settle(inf)

    def _n_hosts(self) -> int:
        return len({host for *_, host in self._held})
