"""Stage pages: fetch cited pages once, keep them, extract their texts, and look up whether those
that lead nowhere ever existed."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import urlsplit

from tasks.archive.lost_addresses import LostAddress, find_absent
from tasks.archive.pending import (
    WANTED,
    PageToRead,
    find_pending_pages,
    find_unread_pages,
    list_fetch_sources,
)
from tasks.base import format_count
from tasks.configuration.web import load_web
from tasks.outcome import PartOpen
from tasks.run import Plan, RunContext
from tasks.stage import OnProgress, Output, Stage, StageCounts, Worker, open_alone
from tasks.warehouse.contents import PageStore, pages_folder
from tasks.warehouse.pages import AbsentPage, Fetch, FetchSource, Page
from tasks.web.errors import HostsBusy
from tasks.web.page import PageRequest

if TYPE_CHECKING:
    from tasks.web.fetcher import Fetcher

COUNTS = f"""
SELECT count(*) FILTER (p.status = 'ok') AS done, count(*) FILTER (p.status IS NULL) AS pending,
    count(*) FILTER (p.status <> 'ok') AS final
FROM (SELECT DISTINCT url FROM {WANTED} WHERE edition = $1) AS c
LEFT JOIN pages AS p ON p.edition = $1 AND p.url = c.url
"""


ANSWERED = "outcome <> 'unreached'"
BATCH_PAGES = 100
"""Pages of a batch: whole hosts, so one with more pages makes a larger batch."""
BATCHES_AT_ONCE = 32
"""Batches fetched at a time; the limits on requests hold for all of them together."""
Pages = Sequence[PageRequest]
SILENT_SECONDS = 5.0
"""How long no page may come before it is said what is waited for."""


@asynccontextmanager
async def tell_waits(run: RunContext, pages: int, tries: int) -> AsyncIterator[OnProgress]:
    """Count pages by what this yields; each time that none comes for a while, say so once."""
    left = pages

    def count(n: int) -> None:
        nonlocal left
        left -= n

    async def tell() -> None:
        told = 0
        while True:
            before = left
            await asyncio.sleep(SILENT_SECONDS)
            if left == before != told:
                told = left
                hosts = f"hosts that do not answer are asked up to {tries} times"
                run.on_message(f"Waiting for {format_count(left, 'page')}: {hosts}.")

    telling = asyncio.create_task(tell())
    try:
        yield count
    finally:
        telling.cancel()


class BatchFetcher:
    """Fetches batches of pages with one fetcher; of a batch that is tried again, what is left."""

    def __init__(self, run: RunContext, fetcher: "Fetcher", came: OnProgress) -> None:
        self._run = run
        self._fetcher = fetcher
        self._came = came
        self._begun: set[str] = set()

    async def fetch(self, batch: Pages, on_progress: OnProgress) -> None:
        """Fetch a batch; each page gets a row in `fetches`.

        Raises:
            PartOpen: some hosts ask for a longer wait than a run allows; all others are done.
            FetchingStopped: no page can be fetched from this source now.
        """
        from tasks.archive.fetch import archive_pages  # slow: HTTP clients and readers of pages

        of, source = self._run.plan.selection, self._fetcher.source.source
        if batch[0].url in self._begun:
            left = find_pending_pages(
                self._run.store, of.edition, source, of.agents, again=of.again
            )
            urls = {page.url for page in left}
            batch = [page for page in batch if page.url in urls]
        self._begun |= {page.url for page in batch}

        def count(n: int) -> None:
            self._came(n)
            on_progress(n)

        try:
            await archive_pages(self._run.store, of.edition, self._fetcher, batch, count)
        except HostsBusy as busy:
            raise PartOpen(str(busy), left=busy.left) from None


def split_by_host(pages: Pages) -> list[list[PageRequest]]:
    """Split pages into batches of whole hosts, those of the largest host first, since its pages
    wait for each other."""
    hosts: dict[str, list[PageRequest]] = {}
    for page in pages:
        hosts.setdefault(urlsplit(page.url).netloc, []).append(page)
    batches: list[list[PageRequest]] = []
    for of_host in sorted(hosts.values(), key=len, reverse=True):
        if not batches or len(batches[-1]) + len(of_host) > BATCH_PAGES:
            batches.append([])
        batches[-1] += of_host
    return batches


def _make_fetch_stage(source: FetchSource) -> Stage[PageRequest, Pages]:
    """Make the stage that fetches pages from a source."""

    def find_pending(plan: Plan) -> list[PageRequest]:
        of = plan.selection
        return find_pending_pages(plan.store, of.edition, source, of.agents, again=of.again)

    @asynccontextmanager
    async def open_stage(run: RunContext, todo: Pages) -> AsyncIterator[Worker[Pages]]:
        from tasks.web.fetcher import open_fetcher  # slow, as above

        store, settings = PageStore(pages_folder(run.store.location)), load_web()
        store.remove_partial_files()
        async with (
            open_fetcher(settings, store, source) as fetcher,
            tell_waits(run, len(todo), settings.manners.tries) as came,
        ):
            yield Worker(BatchFetcher(run, fetcher, came).fetch, concurrency=BATCHES_AT_ONCE)

    return Stage(
        name=f"fetch {source}",
        task="fetch_pages",
        item="page",
        inputs=("claims",),
        outputs=(Output("fetch", Fetch, f"source = '{source}' AND {ANSWERED}", many="fetches"),),
        find_pending=find_pending,
        open=open_stage,
        split=split_by_host,
        title=_describe_hosts,
        size=len,
        counts_itself=True,
        retry_on=(Exception,),
    )


def _describe_hosts(batch: Pages) -> str:
    """Name a batch by its first host."""
    hosts = dict.fromkeys(urlsplit(page.url).netloc for page in batch)
    more = f" and {len(hosts) - 1} more" if len(hosts) > 1 else ""
    return f"{next(iter(hosts))}{more}"


@asynccontextmanager
async def _open_reading(
    run: RunContext, todo: Sequence[PageToRead]
) -> AsyncIterator[Worker[Sequence[PageToRead]]]:
    from tasks.archive.fetch import read_archived_pages  # slow, as above
    from tasks.web.readers import PageReaders

    async with PageReaders(load_web().reading) as readers:
        yield Worker(
            partial(read_archived_pages, run.store, run.plan.selection.edition, readers),
            concurrency=2,  # one reads while the other's texts are written
        )


async def _look_up(run: RunContext, lost: Sequence[LostAddress], on_progress: OnProgress) -> None:
    from tasks.archive.absent import AbsenceLookup  # slow, as above

    await AbsenceLookup(run.store, run.plan.selection.edition).run(lost, on_progress)


def _count(plan: Plan) -> list[StageCounts]:
    edition = plan.selection.edition
    [record] = plan.store.frame(COUNTS, [edition]).to_dicts()
    return [StageCounts(edition=edition, stage="pages", **record)]


FETCH: dict[FetchSource, Stage[PageRequest, Pages]] = {
    source: _make_fetch_stage(source) for source in get_args(FetchSource)
}
READ: Stage[PageToRead, Sequence[PageToRead]] = Stage(
    name="read",
    task="read_pages",
    item="page",
    inputs=("fetches",),
    outputs=(Output("page", Page),),
    find_pending=lambda plan: find_unread_pages(plan.store, plan.selection.edition),
    open=_open_reading,
    split=lambda pages: [pages[i : i + BATCH_PAGES] for i in range(0, len(pages), BATCH_PAGES)],
    title=lambda pages: f"{pages[0].url} and {len(pages) - 1} more",
    size=len,
    counts_itself=True,
    count=_count,
)
READ_AGAIN = replace(
    READ,
    find_pending=lambda plan: find_unread_pages(plan.store, plan.selection.edition, again=True),
)
"""Reads also pages that have been read, except published ones with a text."""
ABSENT: Stage[LostAddress, Sequence[LostAddress]] = Stage(
    name="absent",
    task="look_up_absent",
    item="address",
    inputs=("pages", "fetches"),
    outputs=(Output("lost address", AbsentPage, many="lost addresses"),),
    find_pending=lambda plan: find_absent(plan.store, plan.selection.edition),
    open=open_alone(_look_up),
    split=lambda lost: [lost],  # one archive is asked about all
    title=lambda lost: "lost addresses",
    size=len,
    counts_itself=True,
)


def list_page_stages(plan: Plan) -> list[Stage[Any, Any]]:
    """Return the stages of getting pages, in their order: from each source, then their texts."""
    fetching = [FETCH[source] for source in list_fetch_sources(plan.selection.fallbacks)]
    return [stage for fetch in fetching for stage in (fetch, READ)] + [ABSENT, READ]
