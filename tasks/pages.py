"""Stage pages: fetch cited pages once, keep them, and extract their texts."""

from collections.abc import Sequence

from tasks.archive.fetch import OnProgress, archive_pages, read_archived_pages
from tasks.configuration.web import load_web
from tasks.pending.pages import find_pending_pages, find_unread_pages
from tasks.stage import stage_task
from tasks.warehouse.contents import PageStore, pages_folder
from tasks.warehouse.pages import FetchSource
from tasks.warehouse.store import Warehouse
from tasks.web.fetcher import open_fetcher
from tasks.web.readers import PageReaders


@stage_task("fetch · {fetch_source}", retries=0)
async def fetch_pages(
    warehouse: Warehouse,
    edition: str,
    fetch_source: FetchSource,
    agents: Sequence[str],
    again: bool,
    on_progress: OnProgress,
) -> None:
    """Fetch every pending page from one source; each one gets a row in `fetches`."""
    store = PageStore(pages_folder(warehouse.location))
    store.remove_partial_files()
    wanted = find_pending_pages(warehouse, edition, fetch_source, agents, again=again)
    async with open_fetcher(load_web(), store, fetch_source) as fetcher:
        await archive_pages(warehouse, edition, fetcher, wanted, on_progress)


@stage_task("read · {edition}", retries=1)
async def read_pages(
    warehouse: Warehouse, edition: str, again: bool, on_progress: OnProgress
) -> None:
    """Extract the text of every fetched page that has none yet (`again`: of all)."""
    todo = find_unread_pages(warehouse, edition, again=again)
    async with PageReaders(load_web().reading) as readers:
        await read_archived_pages(warehouse, edition, readers, todo, on_progress)
