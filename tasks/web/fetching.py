"""Fetching many pages, each once: politely, side by side, and to the end.

    async with fetching(settings, store, "direct") as fetcher:
        await fetcher.fetch_all(wanted, on_fetched, answered_before)

`on_fetched(wanted, fetched)` is called for each page as soon as it is done, its bytes on disk;
calls may overlap. When it is cancelled, pages that were under way leave nothing behind.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Literal
from urllib.parse import urlsplit

from tasks.configuration.web import WebSettings
from tasks.warehouse.page_store import PageStore
from tasks.warehouse.pages import FetchSource
from tasks.web.connecting import GuardedClient
from tasks.web.direct import Direct
from tasks.web.errors import HostsBusy, LeftAlone
from tasks.web.hosts import Turns
from tasks.web.jina import NAME as JINA
from tasks.web.jina import Jina, jina_key
from tasks.web.network import Network, OnFetched, Suspicion, of_network
from tasks.web.page import Wanted
from tasks.web.resolving import Lookup
from tasks.web.robots import Robots
from tasks.web.services import of_service
from tasks.web.visiting import Visitor, any_target
from tasks.web.wayback import NAME as WAYBACK
from tasks.web.wayback import Wayback
from tasks.web.ways import Way

MINUTE = 60.0
MOST_WORKERS = 2_000
"""Hosts whose pages wait for their turns; each takes about 10 kB of memory."""


class Fetcher:
    """Fetches pages in one way.

    Args:
        group: pages of the same group are asked for one after the other, `per_group` at once.
        suspicion, patience_seconds: see `Network`.
    """

    def __init__(
        self,
        way: Way,
        suspicion: Suspicion,
        group: Callable[[Wanted], str],
        per_group: int,
        patience_seconds: float,
    ) -> None:
        self._way = way
        self._suspicion = suspicion
        self._group = group
        self._per_group = per_group
        self._patience = patience_seconds

    async def fetch_all(
        self,
        wanted: Iterable[Wanted],
        on_fetched: OnFetched,
        answered_before: str | None = None,
    ) -> None:
        """Fetch pages; each gets its Fetched.

        Args:
            answered_before: an address whose server answered in an earlier run: when all that is
                left cannot be reached, it tells dead pages from a dead network.

        Raises:
            WebStopped: no page can be had in this way now, or (HostsBusy) some hosts want to be
                asked later. Pages that were not handed on are open still.
            UnwritableWarehouse: a page could not be kept.
            What `on_fetched` raises.
        """
        network = Network(on_fetched, self._suspicion, answered_before, self._patience)
        groups: dict[str, deque[Wanted]] = {}
        for page in wanted:
            groups.setdefault(self._group(page), deque()).append(page)
        # The longest first: pages of one host wait for each other, so they take longest.
        ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
        shifts = deque(
            (name, pages)
            for name, pages in ordered
            for _ in range(min(self._per_group, len(pages)))
        )
        left_alone: list[LeftAlone] = []
        workers = [
            asyncio.create_task(self._work(shifts, network, left_alone))
            for _ in range(min(len(shifts), MOST_WORKERS))
        ]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        await network.finish()
        if left_alone:
            raise HostsBusy(
                f"{len(left_alone):,} pages were not asked for, because their hosts want to be "
                f"asked later than a run waits: {left_alone[0]}. Run the same command again then."
            )

    async def _work(
        self,
        shifts: deque[tuple[str, deque[Wanted]]],
        network: Network,
        left_alone: list[LeftAlone],
    ) -> None:
        while shifts:
            _, pages = shifts.popleft()
            while pages:
                page = pages.popleft()
                try:
                    found = await self._way.fetch(page)
                except LeftAlone as error:
                    left_alone.append(error)
                else:
                    await network.note(page, found, _host(page))


@asynccontextmanager
async def fetching(
    settings: WebSettings, store: PageStore, source: FetchSource, lookup: Lookup | None = None
) -> AsyncIterator[Fetcher]:
    """A fetcher with its connections, for as long as the block lasts.

    Args:
        lookup: in place of the system's way to resolve names.

    Raises:
        ConfigurationError: the environment names a proxy that is none.
    """
    async with GuardedClient(settings, lookup) as client:
        if source == "direct":
            async with _direct(settings, store, client) as fetcher:
                yield fetcher
        else:
            yield _service(settings, store, client, source)


@asynccontextmanager
async def _direct(
    settings: WebSettings, store: PageStore, client: GuardedClient
) -> AsyncIterator[Fetcher]:
    manners, bounds = settings.manners, settings.bounds
    turns = Turns(manners.at_once, manners.per_host, manners.seconds_between)
    visitor = Visitor(client, turns, bounds)
    robots = Robots(visitor, manners)
    permit = robots.permit if manners.robots == "obey" else any_target
    way = Direct(visitor, turns, manners, store, permit)
    try:
        suspicion = of_network(visitor.reaches)
        yield Fetcher(way, suspicion, _host, manners.per_host, bounds.connect_seconds)
    finally:
        await robots.close()


def _service(
    settings: WebSettings,
    store: PageStore,
    client: GuardedClient,
    source: Literal["jina", "wayback"],
) -> Fetcher:
    manners, bounds = settings.manners, settings.bounds
    at_once = settings.jina.at_once if source == "jina" else settings.wayback.at_once
    # Evenly apart, and all hosts of the service count as one: so its limit holds in any minute.
    turns = Turns(at_once, at_once, MINUTE / _per_minute(settings, source), lambda host: "")
    visitor = Visitor(client, turns, bounds)
    way: Way
    if source == "jina":
        way = Jina(settings.jina, manners, visitor, client.guard, store, bounds.total_seconds)
    else:
        way = Wayback(settings.wayback, manners, visitor, client.guard, store)
    suspicion = of_service(JINA if source == "jina" else WAYBACK, way)
    return Fetcher(way, suspicion, lambda page: "", at_once, bounds.connect_seconds)


def _per_minute(settings: WebSettings, source: Literal["jina", "wayback"]) -> int:
    if source == "wayback":
        return settings.wayback.per_minute
    keyed = jina_key(settings.jina) is not None
    return settings.jina.per_minute_with_key if keyed else settings.jina.per_minute


def _host(page: Wanted) -> str:
    try:
        return urlsplit(page.url).hostname or page.url
    except ValueError:
        return page.url
