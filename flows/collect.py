"""Collect an edition: new good articles, listed, dated, measured, chosen, frozen."""

import asyncio
from datetime import datetime
from functools import partial

from prefect import flow, tags
from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows.display.console import remark
from flows.runtime.artifacts import leave_failures, leave_table, leave_text, plain
from flows.runtime.fan_out import Failure, partial_message, run_items
from flows.runtime.parameters import Count
from flows.runtime.progress import stage_progress
from flows.runtime.task_runs import result_of
from flows.runtime.warehouse import hold_warehouse
from tasks.candidates import (
    close_edition,
    date_candidates,
    freeze,
    list_candidates,
    measure_candidates,
)
from tasks.collection.freeze import unfrozen
from tasks.collection.listing import unmeasured
from tasks.collection.request import CollectionRequest, begin
from tasks.collection.wiki import connected
from tasks.configuration.wikipedia import load_wikipedia
from tasks.editions.manifest import unchanged_message
from tasks.processes.pool import HELPERS
from tasks.warehouse.collected import Collection
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse

DECISIONS = """
SELECT coalesce(decision, 'undecided') AS decision, count(*) AS candidates
FROM candidates WHERE edition = $1 GROUP BY ALL ORDER BY candidates DESC, decision
"""

AT_ONCE = 4
"""Tasks at once: one more than requests in flight, so that converting does not hold them up."""


@flow(name="collect", flow_run_name="collect · {edition}")
async def collect(
    edition: str,
    created_from: datetime | None = None,
    created_to: datetime | None = None,
    articles: Count | None = None,
    wiki_api: str | None = None,
    spread: bool | None = None,
    warehouse: str = "data/warehouse.duckdb",
) -> State[None]:
    """Make and freeze an edition of Good Articles that were created in a window.

    A frozen edition is verified instead. A run that was ended goes on where it was; what is left
    out then is as the edition was begun with.

    Args:
        edition: its name, e.g. `2026-11`.
        created_from: first day of the window, in UTC; `window_months` before its end unless given.
        created_to: the day after its last; today unless given.
        articles: how many to choose.
        wiki_api: another wiki than that of `configs/wikipedia.yaml`.
        spread: choose over categories in turn.
        warehouse: a DuckDB file, waited for while another process owns it, or a lake's address.

    Returns:
        `Completed`, or a completed state named `Partial` when something could not be had.
    """
    settings = load_wikipedia()
    asked = CollectionRequest(
        edition=edition, since=created_from, until=created_to, articles=articles,
        api_url=wiki_api, spread=spread,
    )  # fmt: skip
    with await hold_warehouse(warehouse, f"collecting {edition}") as store:
        collection = begin(store, asked, settings, utc_now())
        if collection.frozen_at:
            message = unchanged_message(store, collection)
            await leave_text("manifest", plain(message), f"{edition}: verified.")
            return Completed(message=message)
        _say_window(collection)
        try:
            async with connected(store, settings, collection.api_url, on_message=_wait_shown):
                with tags(f"edition:{edition}"):
                    failures = await _stages(store, collection)
                    return await _closed(store, collection, failures)
        finally:
            HELPERS.close()


async def _stages(store: Warehouse, collection: Collection) -> list[Failure]:
    path, edition = store.url, collection.edition
    members = await result_of(partial(list_candidates, path, edition, return_state=True))
    remark(f"{members:,} good articles were listed since the window began.")
    async with stage_progress("first revisions", None) as progress:
        loop = asyncio.get_running_loop()

        def on_progress(n: int) -> None:
            loop.create_task(progress.advance(n))  # noqa: RUF006 - a bar; nobody waits for it

        inside = await result_of(
            partial(date_candidates, path, edition, on_progress, return_state=True)
        )
    remark(f"{inside:,} of them were created in the window.")
    failures = await run_items(
        "measure",
        [(batch[0].title, batch) for batch in unmeasured(store, edition)],
        lambda title, batch: measure_candidates(path, edition, title, batch, return_state=True),
        at_once=AT_ONCE,
        size=len,
    )
    while not failures and (todo := unfrozen(store, edition)):
        failures = await run_items(
            "freeze",
            [(candidate.title, candidate) for candidate in todo],
            lambda title, candidate: freeze(path, edition, title, candidate, return_state=True),
            at_once=AT_ONCE,
        )
    return failures


async def _closed(store: Warehouse, collection: Collection, failures: list[Failure]) -> State[None]:
    """Freeze the edition if all is there, and leave what became of the candidates in the UI."""
    edition = collection.edition
    if failures:
        outcome: State[None] = Completed(
            name="Partial",
            message=f"{edition} is not frozen: {partial_message(failures)} Run it again.",
        )
    elif not store.value("SELECT count(*) FROM articles WHERE edition = $1", [edition]):
        outcome = Completed(
            name="Partial",
            message=f"{edition} is not frozen: no article of the wiki was created in its window "
            f"and may be taken. `evergreen edition drop {edition}` frees the name for another "
            "window.",
        )
    else:
        sha = await result_of(partial(close_edition, store.url, edition, return_state=True))
        n = store.value("SELECT count(*) FROM articles WHERE edition = $1", [edition])
        fewer = "" if n == collection.n_articles else f" of {collection.n_articles} wanted"
        outcome = Completed(message=f"{edition} is frozen: {n} articles{fewer}, manifest {sha}.")
    await leave_table(
        "candidates",
        store.frame(DECISIONS, [edition]).to_dicts(),
        f"{edition}: what became of the good articles that were looked at.",
    )
    await leave_failures(failures)
    return outcome


def _say_window(collection: Collection) -> None:
    remark(
        f"{collection.edition}: good articles of {collection.api_url}, created from "
        f"{collection.created_since:%Y-%m-%d} to before {collection.created_until:%Y-%m-%d}, "
        f"snapshot of {collection.begun_at:%Y-%m-%d %H:%M} UTC.",
    )


def _wait_shown(text: str) -> None:
    remark(text, style="dim")
