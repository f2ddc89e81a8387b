"""Fetch cited pages into the archive, and extract their texts.

Plain functions; the Prefect tasks are in `tasks/pages.py`. Bytes are on disk before a fetch's row
is committed, and the row before the page is read: however a run ends, no page that came is fetched
again, and none is incomplete.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from tasks.archive.pending import (
    PageToRead,
    find_busy_hosts,
    find_reachable_urls,
    find_second_looks,
)
from tasks.configuration.web import load_web
from tasks.extraction.urls import normalise_url
from tasks.models.client import parse_retry_after
from tasks.warehouse.contents import pages_folder
from tasks.warehouse.errors import DamagedWarehouse
from tasks.warehouse.pages import Fetch, FetchOutcome, Page, PageStatus
from tasks.warehouse.rows import content_sha, utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tasks.web.fetcher import Fetcher
from tasks.web.hosts import format_seconds, is_retryable
from tasks.web.page import FetchedContent, FetchResult, PageRequest, ReadPage
from tasks.web.readers import PageReaders

FAILURE_STATUS: dict[FetchOutcome, PageStatus] = {
    "failed": "unfetchable",
    "refused": "refused",
    "robots": "robots",
    "too_large": "too_large",
}
"""The page status for each fetch outcome without bytes."""
OnProgress = Callable[[int], None]
"""Called with the number of pages just done."""
BATCH_SIZE = 25
"""Pages whose texts are written in one commit."""
THERE = """
SELECT url FROM fetches
WHERE edition = $1 AND source = $2 AND sha IS NOT NULL AND outcome = 'fetched'
"""


class LostBytes(RuntimeError):
    """The bytes of some fetched pages are missing or damaged."""


async def archive_pages(
    warehouse: Warehouse,
    edition: str,
    fetcher: Fetcher,
    wanted: Sequence[PageRequest],
    on_progress: OnProgress = lambda n: None,
) -> None:
    """Fetch pages, each once; every answer and every failure has a row when this returns, and so
    has every page that was not asked for because its host is busy.

    Raises:
        FetchingStopped: no page can be fetched from this source now; those without a row stay
            pending.
    """
    source = fetcher.source.source
    there = set(warehouse.frame(THERE, [edition, source])["url"])
    unreached = "edition = $1 AND source = $2 AND outcome = 'unreached'"
    first_looks = {row.url: row for row in warehouse.rows(Fetch, unreached, [edition, source])}
    looks = find_second_looks(warehouse, edition)
    due = {url for (url, of), at in looks.items() if of == source and at <= utc_now()}

    async def keep(page: PageRequest, fetched: FetchResult) -> None:
        fetcher.answered = fetcher.answered or not fetched.deferred
        # What came once stays evidence, so a later failure does not replace it.
        if fetched.sha or page.url not in there:
            row = build_fetch_row(edition, page, fetched)
            may_pass = fetched.deferred or (
                source == "direct" and (fetched.is_unreached or fetched.is_temporary_error)
            )
            # A service that has some pages at each look, as its limit allows, comes to have all.
            postponed = fetched.deferred and fetcher.answered and source != "direct"
            if may_pass and (postponed or not page.is_last_look):  # an early look changes nothing
                first = None if page.is_last_look else first_looks.get(page.url)
                row = first or row.model_copy(update={"outcome": "unreached"})
            await warehouse.write_async(Change(Fetch, [row]))
        on_progress(1)

    if source == "direct" or not due:
        leave_busy_hosts(warehouse, fetcher)
    asked = [page.model_copy(update={"is_last_look": page.url in due}) for page in wanted]
    await fetcher.fetch_all(asked, keep, find_reachable_urls(warehouse, edition), keep)


def leave_busy_hosts(warehouse: Warehouse, fetcher: Fetcher) -> None:
    """Let a fetcher leave those hosts alone that asked for it."""
    for host, seconds in find_busy_hosts(warehouse, fetcher.source.source).items():
        why = f"{fetcher.source.name or host} asks to wait {format_seconds(seconds)} more"
        fetcher.source.throttle.close(host, why, seconds)


async def reopen_pages(warehouse: Warehouse, edition: str, urls: Sequence[str]) -> None:
    """Take back the statuses of pages that a source could not be asked for: they are open.

    The next run reads the answers that are there again, and asks it; published pages stay.
    """
    failed = warehouse.rows(
        Page,
        "edition = $1 AND url IN (SELECT unnest($2)) AND status <> 'ok' AND text IS NULL "
        "AND source <> 'published'",
        [edition, list(urls)],
    )
    keys = [page.model_dump(include=set(Page.key)) for page in failed]
    if keys:
        await warehouse.write_async(*(Change(Page, [], replacing=key) for key in keys))


async def read_archived_pages(
    warehouse: Warehouse,
    edition: str,
    readers: PageReaders,
    todo: Sequence[PageToRead],
    on_progress: OnProgress = lambda n: None,
) -> None:
    """Extract the texts of fetched pages and store them.

    Raises:
        LostBytes: the bytes of some pages are missing or damaged; all others are read.
    """
    folder = pages_folder(warehouse.location)
    lost: list[DamagedWarehouse] = []

    async def read(page: PageToRead) -> Page | None:
        try:
            return await read_archived_page(edition, readers, folder, page)
        except DamagedWarehouse as error:
            lost.append(error)
            return None

    for start in range(0, len(todo), BATCH_SIZE):
        part = todo[start : start + BATCH_SIZE]
        pages = [page for page in await asyncio.gather(*map(read, part)) if page]
        await warehouse.write_async(Change(Page, _keep_imported_texts(warehouse, edition, pages)))
        on_progress(len(part))
    if lost:
        raise LostBytes(f"The bytes of {len(lost):,} pages are lost; the first: {lost[0]}")


def _keep_imported_texts(warehouse: Warehouse, edition: str, pages: Sequence[Page]) -> list[Page]:
    """Keep the text of an imported edition's page where ours has none."""
    published = {
        page.url: page
        for page in warehouse.rows(
            Page,
            "edition = $1 AND url IN (SELECT unnest($2)) AND text IS NOT NULL "
            "AND coalesce(source, 'published') = 'published'",
            [edition, [page.url for page in pages if page.status != "ok"]],
        )
    }
    return [
        there.model_copy(update={"fetched_at": page.fetched_at, "final_url": page.final_url})
        if (there := published.get(page.url))
        else page
        for page in pages
    ]


async def read_archived_page(
    edition: str, readers: PageReaders, folder: Path, todo: PageToRead
) -> Page | None:
    """Read a page from its first source with a usable page, else from its first source. The
    final URL comes from any source that was redirected.

    Returns:
        None if no source has a usable page, and the page's host gets a second look.

    Raises:
        DamagedWarehouse: its bytes are missing or damaged.
    """
    first: tuple[Fetch, ReadPage] | None = None
    led_to = next(filter(None, map(_redirect_key, todo.fetches)), None)
    for fetch in (fetch for fetch in todo.fetches if fetch.outcome != "unreached"):
        page = await _read(readers, folder, fetch)
        if page.status == "ok":
            return build_page_row(edition, fetch, page, fetch.fetched_at, led_to)
        first = first or (fetch, page)
    if any(fetch.outcome == "unreached" and fetch.source == "direct" for fetch in todo.fetches):
        return None
    if first is None:
        raise ValueError(f"{todo.url}: there is no fetch of it")
    return build_page_row(edition, *first, max(fetch.fetched_at for fetch in todo.fetches), led_to)


async def _read(readers: PageReaders, folder: Path, fetch: Fetch) -> ReadPage:
    if fetch.outcome != "fetched" or fetch.sha is None:
        return ReadPage(status=FAILURE_STATUS.get(fetch.outcome, "unfetchable"), error=fetch.error)
    material = FetchedContent(
        source=fetch.source,
        url=fetch.asked_url,
        final_url=fetch.final_url or fetch.asked_url,
        http_status=fetch.http_status or 200,
        headers=json.loads(fetch.headers),
        content=b"",
    )
    page = await readers.read_stored(folder, fetch.sha, material)
    hint = parse_retry_after(material.headers)
    is_long = (hint or 0) > load_web().manners.longest_wait_seconds
    said_so = page.status == "unfetchable" and (fetch.http_status == 429 or hint is not None)
    if is_retryable(fetch.http_status or 0) and (is_long or said_so):
        error = f"host busy (HTTP {fetch.http_status})"
        return page.model_copy(update={"status": "unfetchable", "error": error})
    return page


def build_fetch_row(edition: str, page: PageRequest, fetched: FetchResult) -> Fetch:
    """Build the row for the result of fetching a page."""
    return Fetch(
        edition=edition,
        url=page.url,
        redirects=json.dumps([hop.model_dump() for hop in fetched.redirects]),
        headers=json.dumps(dict(sorted(fetched.headers.items()))),
        **fetched.model_dump(exclude={"redirects", "headers", "reached", "known_at"}),
    )


def build_page_row(
    edition: str, fetch: Fetch, page: ReadPage, at: datetime, led_to: str | None
) -> Page:
    """Build the row for a page that was read.

    at: when it was fetched, or for an unusable page last tried. led_to: the key of the page that
    it redirected to.
    """
    text = page.text if page.status == "ok" else None
    return Page(
        edition=edition,
        url=fetch.url,
        text=text,
        text_sha=None if text is None else content_sha(text),
        error=page.error if text is None else None,
        fetched_at=at,
        source=fetch.source,
        final_url=led_to,
        signals=json.dumps(page.signals) if page.signals else None,
        **page.model_dump(exclude={"text", "error", "signals", "refresh", "shown_pdf"}),
    )


def _redirect_key(fetch: Fetch) -> str | None:
    """Return the key of the page that redirects led to; None if it is the cited page."""
    if fetch.source == "wayback" or fetch.final_url is None:
        return None
    key = normalise_url(fetch.final_url)
    return key if key != fetch.url else None
