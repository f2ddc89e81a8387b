"""Stage pages: fetch cited pages once, keep them, extract their texts, and look up whether those
that lead nowhere ever existed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, TypeVar, get_args

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
from tasks.run import Plan, RunContext
from tasks.stage import OnProgress, Stage, StageCounts, open_alone
from tasks.warehouse.contents import PageStore, pages_folder
from tasks.warehouse.pages import FetchSource
from tasks.web.page import PageRequest

ItemT = TypeVar("ItemT")
COUNTS = f"""
SELECT count(*) FILTER (p.status = 'ok') AS done, count(*) FILTER (p.status IS NULL) AS pending,
    count(*) FILTER (p.status <> 'ok') AS final
FROM (SELECT DISTINCT url FROM {WANTED} WHERE edition = $1) AS c
LEFT JOIN pages AS p ON p.edition = $1 AND p.url = c.url
"""


Pages = Sequence[PageRequest]
SILENT_SECONDS = 5.0
"""How long no page may come before it is said what is waited for."""


@asynccontextmanager
async def tell_waits(
    run: RunContext, pages: int, tries: int, on_progress: OnProgress
) -> AsyncIterator[OnProgress]:
    """Count pages by what this yields; each time that none comes for a while, say so once."""
    left = pages

    def count(n: int) -> None:
        nonlocal left
        left -= n
        on_progress(n)

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


def _make_fetch_stage(source: FetchSource) -> Stage[PageRequest, Pages]:
    """Make the stage that fetches pages from a source; each page gets a row in `fetches`."""

    def find_pending(plan: Plan) -> list[PageRequest]:
        of = plan.selection
        return find_pending_pages(plan.store, of.edition, source, of.agents, again=of.again)

    async def fetch(run: RunContext, wanted: Pages, on_progress: OnProgress) -> None:
        from tasks.archive.fetch import archive_pages  # slow: HTTP clients and readers of pages
        from tasks.web.fetcher import open_fetcher

        store, settings = PageStore(pages_folder(run.store.location)), load_web()
        store.remove_partial_files()
        async with (
            open_fetcher(settings, store, source) as fetcher,
            tell_waits(run, len(wanted), settings.manners.tries, on_progress) as count,
        ):
            await archive_pages(run.store, run.plan.selection.edition, fetcher, wanted, count)

    return _make_stage(f"fetch {source}", "fetch_pages", f"fetch · {source}", find_pending, fetch)


async def _read(run: RunContext, pages: Sequence[PageToRead], on_progress: OnProgress) -> None:
    from tasks.archive.fetch import read_archived_pages  # slow, as above
    from tasks.web.readers import PageReaders

    edition = run.plan.selection.edition
    async with PageReaders(load_web().reading) as readers:
        await read_archived_pages(run.store, edition, readers, pages, on_progress)


async def _look_up(run: RunContext, lost: Sequence[LostAddress], on_progress: OnProgress) -> None:
    from tasks.archive.absent import AbsenceLookup  # slow, as above

    await AbsenceLookup(run.store, run.plan.selection.edition).run(lost, on_progress)


def _make_stage(
    name: str,
    task: str,
    run_name: str,
    find_pending: Callable[[Plan], Sequence[ItemT]],
    do: Callable[[RunContext, Sequence[ItemT], OnProgress], Awaitable[None]],
    count: Callable[[Plan], Sequence[StageCounts]] = lambda plan: (),
) -> Stage[ItemT, Sequence[ItemT]]:
    """Make a stage that does all its pages at once, since they share hosts, and counts itself."""
    return Stage(
        name=name,
        task=task,
        run_name=run_name,
        find_pending=find_pending,
        open=open_alone(do),
        split=lambda pages: [pages],
        title=lambda pages: "pages",
        size=len,
        counts_itself=True,
        retry_on=(),  # the next run does what is left; a retry would do all of it again
        count=count,
    )


def _count(plan: Plan) -> list[StageCounts]:
    edition = plan.selection.edition
    [record] = plan.store.frame(COUNTS, [edition]).to_dicts()
    return [StageCounts(edition=edition, stage="pages", **record)]


FETCH: dict[FetchSource, Stage[PageRequest, Pages]] = {
    source: _make_fetch_stage(source) for source in get_args(FetchSource)
}
READ = _make_stage(
    "read",
    "read_pages",
    "read · {edition}",
    lambda plan: find_unread_pages(plan.store, plan.selection.edition),
    _read,
    _count,
)
READ_AGAIN = replace(
    READ,
    find_pending=lambda plan: find_unread_pages(plan.store, plan.selection.edition, again=True),
)
"""Reads also pages that have been read, except published ones with a text."""
ABSENT = _make_stage(
    "absent",
    "look_up_absent",
    "absent · {edition}",
    lambda plan: find_absent(plan.store, plan.selection.edition),
    _look_up,
)


def list_page_stages(plan: Plan) -> list[Stage[Any, Any]]:
    """Return the stages of getting pages, in their order: from each source, then their texts."""
    fetching = [FETCH[source] for source in list_fetch_sources(plan.selection.fallbacks)]
    return [stage for fetch in fetching for stage in (fetch, READ)] + [ABSENT, READ]
