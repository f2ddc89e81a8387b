"""Fetch many pages concurrently and politely, each once.

    async with open_fetcher(settings, store, "direct") as fetcher:
        await fetcher.fetch_all(wanted, on_fetched, answered_before)

`on_fetched(wanted, fetched)` is called for each page as soon as it is done and its bytes are on
disk; calls may overlap. A cancelled run leaves nothing behind of pages under way.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from math import inf
from time import monotonic
from typing import Literal
from urllib.parse import urlsplit

from tasks.base import format_count
from tasks.configuration.web import WebSettings
from tasks.warehouse.contents import PageStore
from tasks.warehouse.pages import FetchSource
from tasks.web.connections import GuardedClient
from tasks.web.direct import DirectSource, RobotsRules
from tasks.web.errors import FetchingStopped, HostsBusy, ServiceUnusable
from tasks.web.hosts import HostThrottle
from tasks.web.page import FetchResult, PageRequest
from tasks.web.readers import PageReaders
from tasks.web.redirects import RedirectFollower, allow_any
from tasks.web.resolver import Lookup
from tasks.web.services import JinaSource, WaybackSource, get_jina_key
from tasks.web.sources import WebSource

OnFetched = Callable[[PageRequest, FetchResult], Awaitable[None]]
MINUTE = 60.0
MAX_WORKERS = 2_000
"""Hosts served concurrently; each takes about 10 kB of memory."""


class OutageDetector:
    """Passes results on once it is known that the network is not to blame.

    Unreachable pages are held back until another page is reached. If none has been reached for a
    while, or by the end, a probe follows: a server that answered before, or a page that every
    service has. If the probe fails as well, fetching stops.

    Args:
        source: where the pages are from; it decides when to stop instead.
        patience_seconds: how long to wait before probing; missing hosts fail faster than others
            answer.
    """

    def __init__(self, source: WebSource, patience_seconds: float) -> None:
        self.answered: Sequence[str] = ()
        """URLs whose servers are known to answer."""
        self._source = source
        self._last_answered: list[str] = []
        self._patience = patience_seconds
        self._held: list[tuple[PageRequest, FetchResult, str, OnFetched]] = []
        self._lock = asyncio.Lock()
        self._down: FetchingStopped | None = None

    async def add(
        self, wanted: PageRequest, found: FetchResult, host: str, on_fetched: OnFetched
    ) -> None:
        """Add the result of a page of `host`, which `on_fetched` is to receive.

        Raises:
            FetchingStopped: nothing can be reached; the held results are not passed on.
        """
        if found.is_unreached or found.reached is False:
            self._held.append((wanted, found, host, on_fetched))
            async with self._lock:
                if self._held and monotonic() - self._held[0][1].known_at >= self._patience:
                    await self._raise_if_down()
            return
        if found.reached:
            self._last_answered = [found.final_url] if found.final_url else []
            await self._release(found.known_at)
        await on_fetched(wanted, found)

    async def finish(self) -> None:
        """Pass on all held results after the last page.

        Raises:
            FetchingStopped: as `add`.
        """
        async with self._lock:
            await self._raise_if_down()
        await self._release(inf)

    def check(self) -> None:
        """Raise FetchingStopped if it is known that nothing can be reached."""
        if self._down:
            raise type(self._down)(*self._down.args)

    async def _release(self, until: float) -> None:
        """Pass on held results that failed before `until`: the network was up afterwards."""
        settled = [held for held in self._held if held[1].known_at <= until]
        self._held = [held for held in self._held if held[1].known_at > until]
        for wanted, found, _, on_fetched in settled:
            await on_fetched(wanted, found)

    async def _raise_if_down(self) -> None:
        """Probe the network if pages are held; raise if it is down."""
        self.check()
        if not self._held:
            return
        if not await self._source.is_up([*self._last_answered, *self.answered]):
            hosts = format_count(len({host for _, _, host, _ in self._held}), "host")
            last = self._held[-1][1].error
            self._down = self._source.make_outage_error(f"{hosts} tried; the last: {last}")
            raise self._down
        await self._release(inf)


class Fetcher:
    """Fetches pages from one source, as often as it is asked: what it learns of the network and of
    hosts, it keeps.

    Args:
        group: returns a page's group; at most `per_group` pages of a group are fetched at once.
        patience_seconds: see `OutageDetector`.
    """

    def __init__(
        self,
        source: WebSource,
        group: Callable[[PageRequest], str],
        per_group: int,
        patience_seconds: float,
    ) -> None:
        self.source = source
        self._group = group
        self._per_group = per_group
        self.answered = False
        """Whether any page was answered for, rather than put off by its host or service."""
        self._outages = OutageDetector(source, patience_seconds)

    async def fetch_all(
        self,
        wanted: Iterable[PageRequest],
        on_fetched: OnFetched,
        answered_before: Sequence[str] = (),
        on_deferred: OnFetched | None = None,
    ) -> None:
        """Fetch all pages, and call `on_fetched` with each page and its result.

        Args:
            answered_before: URLs whose servers are known to answer; if no page can be reached,
                probing them tells dead pages from a dead network.
            on_deferred: called likewise with each page of a busy host that was not asked for.

        Raises:
            FetchingStopped: no page can be fetched from this source now, or (HostsBusy) some
                hosts want to be asked later. Pages that were not passed on stay pending.
            UnwritableWarehouse: a page could not be stored.
            What `on_fetched` raises.
        """
        self._outages.answered = answered_before
        groups: dict[str, deque[PageRequest]] = {}
        for page in wanted:
            groups.setdefault(self._group(page), deque()).append(page)
        # The largest group first: pages of one host wait for each other, so they take longest.
        ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
        at_once = self._per_group
        shifts = deque(pages for _, pages in ordered for _ in range(min(at_once, len(pages))))
        deferred: list[FetchResult] = []

        async def defer(page: PageRequest, found: FetchResult) -> None:
            if not page.is_last_look:
                deferred.append(found)
            if on_deferred:
                await on_deferred(page, found)

        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(min(len(shifts), MAX_WORKERS)):
                    workers.create_task(self._work(shifts, on_fetched, defer))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        await self._outages.finish()
        if deferred:
            raise (ServiceUnusable if self.source.name else HostsBusy)(
                f"{len(deferred):,} pages were not fetched, because their hosts ask for a longer "
                f"wait than a run allows: {deferred[0].error}. Run the same command again then.",
                left=len(deferred),
            )

    async def _work(
        self,
        shifts: deque[deque[PageRequest]],
        on_fetched: OnFetched,
        defer: OnFetched,
    ) -> None:
        while shifts:
            pages = shifts.popleft()
            while pages:
                self._outages.check()
                page = pages.popleft()
                found = await self.source.fetch(page)
                if found.deferred:
                    await defer(page, found)
                else:
                    await self._outages.add(page, found, _host_of(page), on_fetched)


@asynccontextmanager
async def open_fetcher(
    settings: WebSettings, store: PageStore, source: FetchSource, lookup: Lookup | None = None
) -> AsyncIterator[Fetcher]:
    """Open a fetcher with its connections; the block's end closes them.

    Args:
        lookup: resolves names instead of the system's resolver.

    Raises:
        ConfigurationError: a proxy in the environment is not an HTTP proxy.
    """
    async with GuardedClient(settings, lookup) as client, PageReaders(settings.reading) as readers:
        if source == "direct":
            async with _open_direct(settings, store, client, readers) as fetcher:
                yield fetcher
        else:
            yield _build_service_fetcher(settings, store, client, readers, source)


@asynccontextmanager
async def _open_direct(
    settings: WebSettings, store: PageStore, client: GuardedClient, readers: PageReaders
) -> AsyncIterator[Fetcher]:
    manners, bounds = settings.manners, settings.bounds
    throttle = HostThrottle(manners.at_once, manners.per_host, manners.seconds_between)
    follower = RedirectFollower(client, throttle, bounds, readers.read)
    robots = RobotsRules(follower, manners)
    check = robots.check_url if manners.robots == "obey" else allow_any
    pages = DirectSource(follower, manners, store, check)
    try:
        yield Fetcher(pages, _host_of, manners.per_host, bounds.connect_seconds)
    finally:
        await robots.close()


def _build_service_fetcher(
    settings: WebSettings,
    store: PageStore,
    client: GuardedClient,
    readers: PageReaders,
    source: Literal["jina", "wayback"],
) -> Fetcher:
    jina, wayback = settings.jina, settings.wayback
    manners, bounds = settings.manners, settings.bounds
    if source == "wayback":
        at_once, per_minute = wayback.at_once, wayback.per_minute
    elif get_jina_key(jina) is None:
        at_once, per_minute = jina.at_once, jina.per_minute
    else:
        at_once, per_minute = jina.at_once, jina.per_minute_with_key
    # Requests evenly apart, all hosts of the service as one: its limit holds in any minute.
    throttle = HostThrottle(at_once, at_once, MINUTE / per_minute, lambda host: "")
    follower = RedirectFollower(client, throttle, bounds, readers.read)
    pages = (
        JinaSource(jina, follower, manners, store, bounds.total_seconds)
        if source == "jina"
        else WaybackSource(wayback, follower, manners, store)
    )
    return Fetcher(pages, lambda page: "", at_once, bounds.connect_seconds)


def _host_of(page: PageRequest) -> str:
    try:
        return urlsplit(page.url).hostname or page.url
    except ValueError:
        return page.url
