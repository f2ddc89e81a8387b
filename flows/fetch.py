"""Fetch the pages that an edition's reports cite: each once, kept for ever, then read."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from prefect import flow, tags
from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows.display.console import remark
from flows.runtime.artifacts import leave_costs, leave_failures, leave_table, leave_text
from flows.runtime.fan_out import Failure, partial_message
from flows.runtime.parameters import JudgeName
from flows.runtime.progress import stage_progress
from flows.runtime.task_runs import error_of, finished, reason_of
from flows.runtime.warehouse import hold_warehouse
from flows.stages import claims_stage
from tasks.archive.fetch import OnProgress
from tasks.configuration.models import load_judges
from tasks.costs.budget import spending
from tasks.editions.names import check_edition
from tasks.pages import fetch_pages, read_pages
from tasks.pending.evaluation import Evaluation, pending_extractions
from tasks.pending.pages import archived_message, unfetched, unread, ways
from tasks.warehouse.pages import FetchSource
from tasks.warehouse.rows import utc_now
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse

PAGES = "SELECT * EXCLUDE (edition) FROM page_counts WHERE edition = $1"


@flow(name="fetch", flow_run_name="fetch · {edition}")
async def fetch(
    edition: str,
    agents: list[str] | None = None,
    fallbacks: list[FetchSource] | None = None,
    again: bool = False,
    extractor: JudgeName | None = None,
    warehouse: str = "data/warehouse.duckdb",
) -> State[None]:
    """Ask for every cited page that nobody has asked for yet, and take out what it says.

    Args:
        edition: its name in the warehouse.
        agents: only what their reports cite; all unless named.
        fallbacks: other ways to pages that do not come; those of `configs/web.yaml` unless named.
        again: also pages that were asked for in vain before.
        extractor: a judge that extracts the claims nobody has; the offline extraction unless named.
        warehouse: a DuckDB file, waited for while another process owns it, or a lake's address.

    Returns:
        `Completed` when every cited page has its status, whatever that is; `Partial` when pages
        are left to ask for.
    """
    with (
        await hold_warehouse(warehouse, "pages") as store,
        spending(store, None),
        tags(f"edition:{edition}"),
    ):
        began = utc_now()
        check_edition(store, edition)
        failures = await _claims(store, edition, agents or [], extractor)
        for way in ways(fallbacks):
            failures += await _fetched(store, edition, way, agents or [], again)
            failures += await _read(store, edition)
        export_edition(store, edition)
        await leave_table(
            "pages",
            store.frame(PAGES, [edition]).to_dicts(),
            f"{edition}: what became of the pages that its reports cite.",
        )
        await leave_failures(failures)
        await leave_costs(store, began, "pages cost nothing, and claims were extracted offline")
        message = archived_message(store, edition)
    if failures:
        return Completed(name="Partial", message=f"{message} {partial_message(failures)}")
    return Completed(message=message)


@flow(name="read", flow_run_name="read · {edition}")
async def read(edition: str, warehouse: str = "data/warehouse.duckdb") -> State[None]:
    """Take the text out of every fetched page anew, from the archive; nothing is fetched.

    Reports that cite a page whose text becomes another one are judged again by the next
    evaluation.

    Args:
        edition: its name in the warehouse.
        warehouse: a DuckDB file, waited for while another process owns it, or a lake's address.
    """
    with await hold_warehouse(warehouse, "pages") as store:
        check_edition(store, edition)
        n = len(unread(store, edition, again=True))
        failures = await _read(store, edition, again=True)
        export_edition(store, edition)
        await leave_text("pages", f"{n:,} pages were to be read again.", f"{edition}: pages.")
        await leave_failures(failures)
    if failures:
        return Completed(name="Partial", message=partial_message(failures))
    return Completed(message=f"{edition}: {n:,} pages were read again.")


async def _claims(
    store: Warehouse, edition: str, agents: Sequence[str], extractor: str | None
) -> list[Failure]:
    """What reports cite is known once their claims are."""
    run = Evaluation(
        warehouse=store.url,
        edition=edition,
        protocols=(),
        agents=tuple(agents),
        judge=load_judges().default,
        extractor=extractor,
    )
    todo = pending_extractions(run)
    return await claims_stage(run, len(todo)) if todo else []


async def _fetched(
    store: Warehouse, edition: str, way: FetchSource, agents: Sequence[str], again: bool
) -> list[Failure]:
    wanted = unfetched(store, edition, way, agents, again=again)
    if not wanted:
        return []
    hosts = {urlsplit(page.url).netloc for page in wanted}
    remark(f"Pages to fetch ({way}): {len(wanted):,}, of hosts: {len(hosts):,}.")
    path = store.url
    return await _followed(
        f"fetch {way}",
        len(wanted),
        lambda on_progress: fetch_pages(
            path, edition, way, agents, again, on_progress, return_state=True
        ),
    )


async def _read(store: Warehouse, edition: str, *, again: bool = False) -> list[Failure]:
    todo = unread(store, edition, again=again)
    if not todo:
        return []
    path = store.url
    return await _followed(
        "read",
        len(todo),
        lambda on_progress: read_pages(path, edition, again, on_progress, return_state=True),
    )


async def _followed(stage: str, total: int, start: Callable[[OnProgress], Any]) -> list[Failure]:
    """Run one task that tells how far it is."""
    async with stage_progress(stage, total) as progress:
        loop = asyncio.get_running_loop()
        told: set[asyncio.Task[None]] = set()

        def on_progress(n: int) -> None:
            task = loop.create_task(progress.advance(n))
            told.add(task)
            task.add_done_callback(told.discard)

        error = await error_of(await finished(partial(start, on_progress)))
        await asyncio.gather(*told)
    return [Failure(stage, "pages", reason_of(error))] if error else []
