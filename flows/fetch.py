"""Fetch the pages that an edition's reports cite, each once, and extract their texts."""

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

from prefect import tags
from prefect.client.schemas.objects import State
from prefect.states import Completed
from prefect.utilities.annotations import quote

from flows.display.console import print_message
from flows.runtime.artifacts import (
    add_costs_artifact,
    add_failures_artifact,
    add_table_artifact,
    add_text_artifact,
)
from flows.runtime.progress import stage_progress
from flows.runtime.task_runs import Failure, format_error, format_failures, run_task_for_error
from flows.runtime.warehouse import hold_warehouse, recorded_flow
from flows.stages import extract_pending
from tasks.archive.fetch import reopen_pages
from tasks.base import format_count
from tasks.costs.budget import open_budget
from tasks.editions.names import check_edition
from tasks.pages import fetch_pages, look_up_absent, read_pages
from tasks.pending.absent import find_absent
from tasks.pending.evaluation import plan_extraction
from tasks.pending.pages import (
    describe_archived,
    describe_open_pages,
    find_pending_pages,
    find_unread_pages,
    list_fetch_sources,
)
from tasks.planning.parameters import ExtractorName
from tasks.warehouse.operations import REPORTS_SHA, FetchedEdition
from tasks.warehouse.pages import FetchSource
from tasks.warehouse.rows import utc_now
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change

PAGES = "SELECT * EXCLUDE (edition) FROM page_counts WHERE edition = $1"


@recorded_flow("fetch", "fetch · {edition}")
async def fetch(
    edition: str,
    agents: list[str] | None = None,
    fallbacks: list[FetchSource] | None = None,
    again: bool = False,
    extractor: ExtractorName | None = None,
    warehouse: str = "data/warehouse.duckdb",
) -> State[None]:
    """Fetch every cited page that was not requested yet, and extract its text.

    Args:
        edition: its name in the warehouse.
        agents: only the pages that their reports cite; all unless given.
        fallbacks: sources for pages that fail; those of `configs/web.yaml` unless given.
        again: retry pages that failed before.
        extractor: who extracts claims that nobody has extracted: a judge, or `offline`; unless
            given, the default judge if it calls a model.
        warehouse: a DuckDB file or a lake's address; waits while another process owns the file.

    Returns:
        `Completed` when every page has a status; `Partial` while pages are open: not requested yet,
        or due for a second look because their host did not answer.
    """
    with (
        await hold_warehouse(warehouse, "pages") as store,
        open_budget(store, None),
        tags(f"edition:{edition}"),
    ):
        began = utc_now()
        check_edition(store, edition)
        reports = f"SELECT {REPORTS_SHA} FROM reports WHERE edition = $1"
        fetched = {"edition": edition, "reports_sha": store.value(reports, [edition])}
        # Claims tell which pages reports cite.
        failures = await extract_pending(plan_extraction(store, edition, agents or [], extractor))
        fetch_sources = list_fetch_sources(fallbacks)
        for fetch_source in fetch_sources:
            failures += await _fetch_pending_pages(
                store, edition, fetch_source, agents or [], again
            )
            failures += await _read_pages(store, edition)
        failures += await _look_up_absent(store, edition)
        await reopen_pages(store, edition, [
            page.url
            for fallback in fetch_sources[1:]
            for page in find_pending_pages(store, edition, fallback, agents or [], early=True)
        ])  # fmt: skip
        await store.write_async(Change(FetchedEdition, [FetchedEdition(**fetched)]))
        export_edition(store, edition)
        await add_table_artifact(
            "pages",
            store.frame(PAGES, [edition]).to_dicts(),
            f"{edition}: the cited pages by status.",
        )
        await add_failures_artifact(failures)
        await add_costs_artifact(
            store, began, "neither pages nor the extraction of claims costs anything"
        )
        message = describe_archived(store, edition)
        still_open = describe_open_pages(store, edition, agents or [])
    if failures or still_open:
        said = (message, still_open, format_failures(failures) if failures else None)
        return Completed(name="Partial", message=" ".join(filter(None, said)))
    return Completed(message=message)


@recorded_flow("read", "read · {edition}")
async def read(edition: str, warehouse: str = "data/warehouse.duckdb") -> State[None]:
    """Extract the text of every archived page again; fetch nothing.

    The next evaluation judges reports again that cite a page whose text has changed.

    Args:
        edition: its name in the warehouse.
        warehouse: a DuckDB file or a lake's address; waits while another process owns the file.
    """
    with await hold_warehouse(warehouse, "pages") as store:
        check_edition(store, edition)
        n = len(find_unread_pages(store, edition, again=True))
        failures = await _read_pages(store, edition, again=True)
        export_edition(store, edition)
        await add_text_artifact(
            "pages", f"{format_count(n, 'page')} to read again.", f"{edition}: pages."
        )
        await add_failures_artifact(failures)
    if failures:
        return Completed(name="Partial", message=format_failures(failures))
    return Completed(message=f"{edition}: pages that were read again: {n:,}.")


async def _fetch_pending_pages(
    store: Warehouse, edition: str, fetch_source: FetchSource, agents: Sequence[str], again: bool
) -> list[Failure]:
    wanted = find_pending_pages(store, edition, fetch_source, agents, again=again)
    if not wanted:
        return []
    hosts = {urlsplit(page.url).netloc for page in wanted}
    print_message(f"Pages to fetch ({fetch_source}): {len(wanted):,}, of hosts: {len(hosts):,}.")
    return await _run_with_progress(
        f"fetch {fetch_source}", wanted, fetch_pages, store, edition, fetch_source
    )


async def _read_pages(store: Warehouse, edition: str, *, again: bool = False) -> list[Failure]:
    todo = find_unread_pages(store, edition, again=again)
    return await _run_with_progress("read", todo, read_pages, store, edition) if todo else []


async def _look_up_absent(store: Warehouse, edition: str) -> list[Failure]:
    """Look up which addresses never existed. A page that comes at its second look is read."""
    if not (todo := find_absent(store, edition)):
        return []
    failures = await _run_with_progress("absent", todo, look_up_absent, store, edition)
    return failures + await _read_pages(store, edition)


async def _run_with_progress(
    stage: str, todo: Sequence[object], task: Callable[..., Any], *arguments: object
) -> list[Failure]:
    """Run one task for all items, which come after its other arguments; it reports its progress."""
    async with stage_progress(stage, len(todo)) as progress:
        # Quoted: Prefect would look through every item for the results of other tasks.
        error = await run_task_for_error(task, *arguments, quote(todo), progress.advance)
    return [Failure(stage, "pages", format_error(error))] if error else []
