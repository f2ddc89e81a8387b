"""Stage pages: fetch cited pages once, keep them, and extract their texts."""

from collections.abc import Sequence

from tasks.archive.absent import AbsenceLookup
from tasks.archive.fetch import OnProgress, archive_pages, read_archived_pages
from tasks.configuration.web import load_web
from tasks.pending.absent import LostAddress
from tasks.pending.pages import PageToRead
from tasks.stage import stage_task
from tasks.warehouse.contents import PageStore, pages_folder
from tasks.warehouse.pages import FetchSource
from tasks.warehouse.store import Warehouse
from tasks.web.fetcher import open_fetcher
from tasks.web.page import PageRequest
from tasks.web.readers import PageReaders


@stage_task("fetch · {fetch_source}", retries=0)
async def fetch_pages(
    warehouse: Warehouse,
    edition: str,
    fetch_source: FetchSource,
    wanted: Sequence[PageRequest],
    on_progress: OnProgress,
) -> None:
    """Fetch pages from one source; each one gets a row in `fetches`."""
    store = PageStore(pages_folder(warehouse.location))
    store.remove_partial_files()
    async with open_fetcher(load_web(), store, fetch_source) as fetcher:
        await archive_pages(warehouse, edition, fetcher, wanted, on_progress)


@stage_task("read · {edition}", retries=0)
async def read_pages(
    warehouse: Warehouse, edition: str, todo: Sequence[PageToRead], on_progress: OnProgress
) -> None:
    """Extract the texts of fetched pages. Not retried: a next run reads what is left, a retry
    would read all of them again."""
    async with PageReaders(load_web().reading) as readers:
        await read_archived_pages(warehouse, edition, readers, todo, on_progress)


@stage_task("absent · {edition}", retries=0)
async def look_up_absent(
    warehouse: Warehouse, edition: str, todo: Sequence[LostAddress], on_progress: OnProgress
) -> None:
    """Look up whether cited addresses that lead nowhere ever existed."""
    await AbsenceLookup(warehouse, edition).run(todo, on_progress)
