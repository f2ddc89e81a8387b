"""Stage pages: cited pages are fetched once, kept for ever, and read. Shells of `archiving`."""

from collections.abc import Sequence

from tasks.archive.fetch import OnProgress, fetch_into, read_into
from tasks.configuration.web import load_web
from tasks.pending.pages import unfetched, unread
from tasks.stage import stage_task
from tasks.warehouse.page_store import PageStore, pages_folder
from tasks.warehouse.pages import FetchSource
from tasks.warehouse.store import get_open_warehouse
from tasks.web.fetching import fetching
from tasks.web.readers import PageReaders


@stage_task("fetch · {way}", retries=0)
async def fetch_pages(
    warehouse_path: str,
    edition: str,
    way: FetchSource,
    agents: Sequence[str],
    again: bool,
    on_progress: OnProgress,
) -> None:
    """Ask for every page that is wanted in this way; all have a row in `fetches` at the end."""
    warehouse = get_open_warehouse(warehouse_path)
    store = PageStore(pages_folder(warehouse.location))
    store.sweep()
    wanted = unfetched(warehouse, edition, way, agents, again=again)
    async with fetching(load_web(), store, way) as fetcher:
        await fetch_into(warehouse, edition, fetcher, wanted, on_progress)


@stage_task("read · {edition}", retries=1)
async def read_pages(
    warehouse_path: str, edition: str, again: bool, on_progress: OnProgress
) -> None:
    """Take the text out of every fetched page that has none yet (`again`: of all)."""
    warehouse = get_open_warehouse(warehouse_path)
    todo = unread(warehouse, edition, again=again)
    async with PageReaders(load_web().reading) as readers:
        await read_into(warehouse, edition, readers, todo, on_progress)
