"""Fetching cited pages into the archive, and taking out what they say.

Plain functions; the Prefect shells are in `tasks/pages.py`. Bytes are on disk before a fetch's row
is committed, and the row before the page is read: whatever ends a run, no page is asked for twice
once it came, and none is half there.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from tasks.extraction.urls import normalise_url
from tasks.pending.pages import ToRead, answered_before
from tasks.warehouse.errors import DamagedWarehouse
from tasks.warehouse.page_store import pages_folder
from tasks.warehouse.pages import Fetch, FetchOutcome
from tasks.warehouse.rows import Page, PageStatus, content_sha, utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tasks.web.fetching import Fetcher
from tasks.web.page import Fetched, Material, ReadPage, Wanted
from tasks.web.readers import PageReaders

FAILED: dict[FetchOutcome, PageStatus] = {
    "failed": "unfetchable",
    "refused": "refused",
    "robots": "robots",
    "too_large": "too_large",
}
"""What a page is of which no bytes came."""
OnProgress = Callable[[int], None]
"""Told how many pages more are done."""
WRITTEN_TOGETHER = 25
"""Texts of pages in one commit."""


class LostBytes(RuntimeError):
    """What was fetched of some pages is not in the archive any more."""


async def fetch_into(
    warehouse: Warehouse,
    edition: str,
    fetcher: Fetcher,
    wanted: Sequence[Wanted],
    on_progress: OnProgress = lambda n: None,
) -> None:
    """Ask for pages, each once; every answer and every failure is a row when this returns.

    Raises:
        WebStopped: no page can be had in this way now; those without a row are open still.
    """

    there = set(
        warehouse.frame(
            "SELECT url, source FROM fetches WHERE edition = $1 AND sha IS NOT NULL", [edition]
        ).iter_rows()
    )

    async def keep(page: Wanted, fetched: Fetched) -> None:
        # What came once is evidence, also when it does not come again.
        if fetched.sha or (page.url, fetched.source) not in there:
            await warehouse.write_async(Change(Fetch, [fetch_row(edition, page, fetched)]))
        on_progress(1)

    await fetcher.fetch_all(wanted, keep, answered_before(warehouse, edition))


async def read_into(
    warehouse: Warehouse,
    edition: str,
    readers: PageReaders,
    todo: Sequence[ToRead],
    on_progress: OnProgress = lambda n: None,
) -> None:
    """Take the text out of fetched pages and keep it.

    Raises:
        LostBytes: what was fetched of some pages is missing or damaged; all others are read.
    """
    folder = pages_folder(warehouse.location)
    lost: list[DamagedWarehouse] = []

    async def read(page: ToRead) -> Page | None:
        try:
            return await read_page_row(edition, readers, folder, page)
        except DamagedWarehouse as error:
            lost.append(error)
            return None

    for start in range(0, len(todo), WRITTEN_TOGETHER):
        part = todo[start : start + WRITTEN_TOGETHER]
        pages = [page for page in await asyncio.gather(*map(read, part)) if page]
        await warehouse.write_async(Change(Page, _without_losses(warehouse, edition, pages)))
        on_progress(len(part))
    if lost:
        raise LostBytes(f"The bytes of {len(lost):,} pages are lost; the first: {lost[0]}")


def _without_losses(warehouse: Warehouse, edition: str, pages: Sequence[Page]) -> list[Page]:
    """Pages as they are to be kept. What a publisher read in place of a page stays where we had
    nothing better."""
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


async def read_page_row(edition: str, readers: PageReaders, folder: Path, todo: ToRead) -> Page:
    """A page as the first of its ways had it that is good; else as the first had it. Where it
    led to is known by whichever way was led.

    Raises:
        DamagedWarehouse: what was fetched of it is missing or damaged.
    """
    first: tuple[Fetch, ReadPage] | None = None
    led_to = next(filter(None, map(_led_to, todo.fetches)), None)
    for fetch in todo.fetches:
        said = await _read(readers, folder, fetch)
        if said.status == "ok":
            return page_row(edition, fetch, said, fetch.fetched_at, led_to)
        first = first or (fetch, said)
    if first is None:
        raise ValueError(f"{todo.url}: there is no fetch of it")
    return page_row(edition, *first, max(fetch.fetched_at for fetch in todo.fetches), led_to)


async def _read(readers: PageReaders, folder: Path, fetch: Fetch) -> ReadPage:
    if fetch.outcome != "fetched" or fetch.sha is None:
        return ReadPage(status=FAILED.get(fetch.outcome, "unfetchable"), error=fetch.error)
    material = Material(
        source=fetch.source,
        url=fetch.asked_url,
        final_url=fetch.final_url or fetch.asked_url,
        http_status=fetch.http_status or 200,
        headers=json.loads(fetch.headers),
        content=b"",
    )
    return await readers.read_stored(folder, fetch.sha, material)


def fetch_row(edition: str, page: Wanted, fetched: Fetched) -> Fetch:
    """What came of asking for a page, as a record."""
    return Fetch(
        edition=edition,
        url=page.url,
        source=fetched.source,
        asked_url=fetched.asked_url,
        outcome=fetched.outcome,
        final_url=fetched.final_url,
        redirects=json.dumps([hop.model_dump() for hop in fetched.redirects]),
        http_status=fetched.http_status,
        headers=json.dumps(dict(sorted(fetched.headers.items()))),
        sha=fetched.sha,
        n_bytes=fetched.n_bytes,
        tries=fetched.tries,
        error=fetched.error,
        fetched_at=utc_now(),
        seconds=fetched.seconds,
    )


def page_row(edition: str, fetch: Fetch, said: ReadPage, at: datetime, led_to: str | None) -> Page:
    """What a page says, as a record.

    at: when it was fetched; of a bad one, when tried last. led_to: the key of another page.
    """
    good = said.status == "ok" and said.text is not None
    return Page(
        edition=edition,
        url=fetch.url,
        status=said.status,
        title=said.title,
        text=said.text if good else None,
        text_sha=content_sha(said.text) if good and said.text is not None else None,
        error=None if good else said.error,
        fetched_at=at,
        source=fetch.source,
        final_url=led_to,
        language=said.language,
        published_on=said.published_on,
        media_type=said.media_type,
        signals=json.dumps(said.signals) if said.signals else None,
        reader=said.reader,
    )


def _led_to(fetch: Fetch) -> str | None:
    """The key of the page that redirects led to; None where it is the page that was cited."""
    if fetch.source == "wayback" or fetch.final_url is None:
        return None
    key = normalise_url(fetch.final_url)
    return key if key != fetch.url else None
