"""Whose turn it is: how many requests at once, to one host and to all, and how far apart.

Whoever waits for a host holds no place that another host could use.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import monotonic

from tasks.web.errors import Failed, LeftAlone, Unfetched

SILENT_PAGES = 3
"""Different pages in a row for which a host gave no answer at all: it is not asked for others."""


class _Host:
    def __init__(self, at_once: int) -> None:
        self.places = asyncio.Semaphore(at_once)
        self.next_in_line = asyncio.Lock()
        self.not_before = 0.0
        """On the monotonic clock."""
        self.silent_for: set[str] = set()
        self.closed: Callable[[], Unfetched] | None = None
        """Why it is not asked any more."""


class Turns:
    """Turns at hosts.

    Args:
        at_once: requests under way, over all hosts.
        per_host: of them, to one.
        seconds_between: the beginnings of two requests to one host.
        same: hosts with the same outcome count as one.
    """

    def __init__(
        self,
        at_once: int,
        per_host: int,
        seconds_between: float,
        same: Callable[[str], str] = lambda host: host.removeprefix("www."),
    ) -> None:
        self._places = asyncio.Semaphore(at_once)
        self._per_host = per_host
        self._between = seconds_between
        self._same = same
        self._hosts: dict[str, _Host] = {}

    @asynccontextmanager
    async def at(self, name: str) -> AsyncIterator[None]:
        """Wait for a turn at a host, and hold it.

        Raises:
            Failed: the host is not asked any more, because it never answers.
            LeftAlone: nor in this run, because it wants that.
        """
        host = self._host(name)
        async with host.places:
            await self._start(name, host)
            try:
                yield
            finally:
                self._places.release()

    async def _start(self, name: str, host: _Host) -> None:
        """Wait until a request to the host may begin; a place among all is then held."""
        async with host.next_in_line:
            while True:
                if host.closed:
                    raise host.closed()
                wait = host.not_before - monotonic()
                if wait > 0:
                    await asyncio.sleep(wait)
                    continue
                await self._places.acquire()
                now = monotonic()
                if host.not_before <= now and not host.closed:
                    host.not_before = now + self._between
                    return
                self._places.release()  # a request that was under way has put the host off

    def put_off(self, name: str, seconds: float) -> None:
        """The host asks to be left alone for so long."""
        host = self._host(name)
        host.not_before = max(host.not_before, monotonic() + seconds)

    def leave_alone(self, name: str, why: str) -> None:
        """The host is not asked again in this run."""
        self._host(name).closed = lambda: LeftAlone(why)

    def answered(self, name: str) -> None:
        """The host has said something."""
        self._host(name).silent_for.clear()

    def silent(self, page: str, error: Failed) -> None:
        """For a page, a host gave no answer in any try; the error names it."""
        host = self._host(error.host)
        host.silent_for.add(page)
        if len(host.silent_for) >= SILENT_PAGES and not host.closed:
            why = f"not asked for: {SILENT_PAGES} other pages of its host in a row had no answer"
            words = f"{why} ({error})"
            host.closed = lambda: Failed(words, error.stage, host=error.host)

    def _host(self, name: str) -> _Host:
        key = self._same(name)
        host = self._hosts.get(key)
        if host is None:
            host = self._hosts[key] = _Host(self._per_host)
        return host
