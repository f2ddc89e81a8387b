"""Collect an edition: list, date, measure, choose and freeze new Good Articles."""

import asyncio
from functools import partial

from flows.display.console import print_message
from flows.runtime.artifacts import (
    add_failures_artifact,
    add_table_artifact,
    add_text_artifact,
    escape_markdown,
)
from flows.runtime.progress import stage_progress
from flows.runtime.warehouse import warehouse_flow
from flows.stages import run_function, run_stage
from tasks.base import format_count
from tasks.candidates import (
    close_edition,
    date_candidates,
    list_candidates,
    make_freezing,
    make_measuring,
)
from tasks.collection.exclusions import exclude_newly_frozen
from tasks.collection.freeze import explain_too_few
from tasks.collection.request import begin_collection
from tasks.collection.wiki import Wiki, connect_wiki
from tasks.configuration.wikipedia import load_wikipedia
from tasks.editions.manifest import confirm_unchanged
from tasks.outcome import Outcome, join_outcomes
from tasks.planning.edition_options import CollectOptions
from tasks.run import RunContext
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.wiki_editions import Collection

DECISIONS = """
SELECT coalesce(decision, 'undecided') AS decision, count(*) AS candidates
FROM candidates WHERE edition = $1 GROUP BY ALL ORDER BY candidates DESC, decision
"""

COLLECTING = "collecting editions"
"""Editions are collected one after the other: each leaves out what the others have."""


@warehouse_flow("collect", CollectOptions, "collect / {edition}", lock=COLLECTING)
async def collect(run: RunContext, options: CollectOptions) -> Outcome:
    """Make and freeze an edition of Good Articles that were created in a window.

    A frozen edition is verified instead. An interrupted run resumes where it was; parameters that
    are not given then are those of the first run.

    Returns:
        `Completed`; `Cached` if the edition was frozen; `Partial` when a request failed.
    """
    store, settings = run.store, load_wikipedia()
    collection = begin_collection(store, options.request, settings, utc_now())
    if collection.frozen_at:
        message = confirm_unchanged(store, collection)
        await add_text_artifact(
            "manifest", escape_markdown(message), f"{options.edition}: verified."
        )
        return Outcome("cached", message)
    _print_window(collection)
    print_wait = partial(print_message, style="dim")
    async with connect_wiki(settings, collection.api_url, on_message=print_wait) as wiki:
        outcome = await _run_stages(run, wiki, collection)
        return await _close_if_complete(store, wiki, collection, outcome)


async def _run_stages(run: RunContext, wiki: Wiki, collection: Collection) -> Outcome:
    store, edition = run.store, collection.edition
    members = await run_function(f"list / {edition}", lambda: list_candidates(wiki, store, edition))
    print_message(f"{members:,} Good Articles were listed since the window began.")
    async with stage_progress("first revisions", None) as progress:
        inside = await run_function(
            f"date / {edition}", lambda: date_candidates(wiki, store, edition, progress.advance)
        )
    print_message(f"{inside:,} of them were created in the window.")
    outcome = await run_stage(run, make_measuring(wiki))
    exclude_newly_frozen(store, collection)
    enough = explain_too_few(store, collection, wiki.settings) is None
    freezing = make_freezing(wiki)
    while enough and not outcome.failures and run.plan.find_pending(freezing):
        outcome = await run_stage(run, freezing)
        run.plan = run.plan.renew()
    return outcome


async def _close_if_complete(
    store: Warehouse, wiki: Wiki, collection: Collection, outcome: Outcome
) -> Outcome:
    """Freeze the edition if it is complete; add the artifacts about its candidates."""
    edition, failures = collection.edition, outcome.failures
    if failures:
        outcome = join_outcomes(
            f"{edition} is not frozen; run it again.", failures=failures, left=""
        )
    elif too_few := explain_too_few(store, collection, wiki.settings):
        outcome = Outcome("partial", too_few)
    else:
        sha = await run_function(
            f"close / {edition}", lambda: asyncio.to_thread(close_edition, store, edition)
        )
        n = store.value("SELECT count(*) FROM articles WHERE edition = $1", [edition])
        fewer = "" if n == collection.n_articles else f" of {collection.n_articles} wanted"
        frozen = f"{edition} is frozen: {format_count(n, 'article')}{fewer}, manifest {sha}."
        outcome = Outcome("done", frozen)
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
