"""Collect an edition: list, date, measure, choose and freeze new Good Articles."""

from datetime import datetime
from functools import partial

from prefect import tags
from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows.display.console import print_message
from flows.runtime.artifacts import (
    add_failures_artifact,
    add_table_artifact,
    add_text_artifact,
    escape_markdown,
)
from flows.runtime.progress import stage_progress
from flows.runtime.task_runs import (
    Failure,
    format_failures,
    run_items,
    run_task_for_error,
    run_task_for_result,
)
from flows.runtime.warehouse import hold_warehouse, recorded_flow
from tasks.base import format_count
from tasks.candidates import (
    close_edition,
    date_candidates,
    freeze_candidate,
    list_candidates,
    measure_candidates,
)
from tasks.collection.exclusions import exclude_newly_frozen
from tasks.collection.freeze import explain_too_few, find_pending_articles
from tasks.collection.listing import find_pending_measurements
from tasks.collection.request import CollectionRequest, begin_collection
from tasks.collection.wiki import connect_wiki
from tasks.configuration.wikipedia import load_wikipedia
from tasks.editions.manifest import confirm_unchanged
from tasks.planning.parameters import Count
from tasks.processes.pool import HELPERS
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.wiki_editions import Collection

DECISIONS = """
SELECT coalesce(decision, 'undecided') AS decision, count(*) AS candidates
FROM candidates WHERE edition = $1 GROUP BY ALL ORDER BY candidates DESC, decision
"""

COLLECTING = "collecting editions"
"""Editions are collected one after the other: each leaves out what the others have."""
MAX_CONCURRENT_TASKS = 4
"""One more than the requests in flight, so that conversion does not delay them."""


@recorded_flow("collect", "collect · {edition}")
async def collect(
    edition: str,
    created_from: datetime | None = None,
    created_to: datetime | None = None,
    articles: Count | None = None,
    wiki_api: str | None = None,
    spread: bool | None = None,
    trial: bool | None = None,
    warehouse: str = "data/warehouse.duckdb",
) -> State[None]:
    """Make and freeze an edition of Good Articles that were created in a window.

    A frozen edition is verified instead. An interrupted run resumes where it was; parameters that
    are not given then are those of the first run.

    Args:
        edition: its name, e.g. `2026-11`.
        created_from: the window's first day, in UTC; `window_months` before its end unless given.
        created_to: the day after its last; today unless given.
        articles: how many to choose, at most.
        wiki_api: a wiki other than that of `configs/wikipedia.yaml`.
        spread: choose from the categories in turn.
        trial: do not count it: it may share articles with other editions.
        warehouse: a DuckDB file or a lake's address; waits while another process owns the file.

    Returns:
        `Completed`, or a completed state named `Partial` when a request failed.
    """
    settings = load_wikipedia()
    asked = CollectionRequest(
        edition=edition, since=created_from, until=created_to, articles=articles,
        api_url=wiki_api, spread=spread, trial=trial,
    )  # fmt: skip
    with await hold_warehouse(warehouse, COLLECTING) as store:
        collection = begin_collection(store, asked, settings, utc_now())
        if collection.frozen_at:
            message = confirm_unchanged(store, collection)
            await add_text_artifact("manifest", escape_markdown(message), f"{edition}: verified.")
            return Completed(message=message)
        _print_window(collection)
        print_wait = partial(print_message, style="dim")
        try:
            async with connect_wiki(store, settings, collection.api_url, on_message=print_wait):
                with tags(f"edition:{edition}"):
                    failures = await _run_stages(store, collection)
                    return await _close_if_complete(store, collection, failures)
        finally:
            HELPERS.close()


async def _run_stages(store: Warehouse, collection: Collection) -> list[Failure]:
    edition = collection.edition
    members = await run_task_for_result(list_candidates, store, edition)
    print_message(f"{members:,} Good Articles were listed since the window began.")
    async with stage_progress("first revisions", None) as progress:
        inside = await run_task_for_result(date_candidates, store, edition, progress.advance)
    print_message(f"{inside:,} of them were created in the window.")
    failures = await run_items(
        "measure",
        [(batch[0].title, batch) for batch in find_pending_measurements(store, edition)],
        lambda batch: run_task_for_error(measure_candidates, store, edition, batch[0].title, batch),
        concurrency=MAX_CONCURRENT_TASKS,
        size=len,
    )
    exclude_newly_frozen(store, collection)
    enough = explain_too_few(store, collection) is None
    while enough and not failures and (todo := find_pending_articles(store, edition)):
        failures = await run_items(
            "freeze",
            [(candidate.title, candidate) for candidate in todo],
            lambda candidate: run_task_for_error(freeze_candidate, store, edition, candidate),
            concurrency=MAX_CONCURRENT_TASKS,
        )
    return failures


async def _close_if_complete(
    store: Warehouse, collection: Collection, failures: list[Failure]
) -> State[None]:
    """Freeze the edition if it is complete; add the artifacts about its candidates."""
    edition = collection.edition
    if failures:
        outcome: State[None] = Completed(
            name="Partial",
            message=f"{edition} is not frozen: {format_failures(failures)} Run it again.",
        )
    elif too_few := explain_too_few(store, collection):
        outcome = Completed(name="Partial", message=too_few)
    else:
        sha = await run_task_for_result(close_edition, store, edition)
        n = store.value("SELECT count(*) FROM articles WHERE edition = $1", [edition])
        fewer = "" if n == collection.n_articles else f" of {collection.n_articles} wanted"
        outcome = Completed(
            message=f"{edition} is frozen: {format_count(n, 'article')}{fewer}, manifest {sha}."
        )
    await add_table_artifact(
        "candidates",
        store.frame(DECISIONS, [edition]).to_dicts(),
        f"{edition}: the candidates by decision.",
    )
    await add_failures_artifact(failures)
    return outcome


def _print_window(collection: Collection) -> None:
    print_message(
        f"{collection.edition}: Good Articles of {collection.api_url}, created from "
        f"{collection.created_since:%Y-%m-%d} to before {collection.created_until:%Y-%m-%d}, "
        f"snapshot of {collection.begun_at:%Y-%m-%d %H:%M} UTC.",
    )
