"""Fetch the pages that an edition's reports cite, each once, and extract their texts."""

from urllib.parse import urlsplit

from flows.display.console import print_message
from flows.lineage import add_lineage_artifact
from flows.runtime.artifacts import (
    add_costs_artifact,
    add_failures_artifact,
    add_table_artifact,
    add_text_artifact,
)
from flows.runtime.warehouse import warehouse_flow
from flows.stages import extract_pending, run_stage
from tasks.archive.fetch import reopen_pages
from tasks.archive.pending import (
    PAGE_COUNTS,
    describe_archived,
    describe_open_pages,
    find_pending_pages,
    list_fetch_sources,
)
from tasks.base import format_count
from tasks.editions.names import check_edition
from tasks.outcome import Outcome, join_outcomes
from tasks.pages import FETCH, READ_AGAIN, list_page_stages
from tasks.planning.options import FetchOptions, ReadOptions
from tasks.run import RunContext
from tasks.warehouse.operations import REPORTS_SHA, FetchedEdition
from tasks.warehouse.rows import utc_now
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.writer import Change


@warehouse_flow("fetch", FetchOptions, "fetch / {edition}", lock="pages")
async def fetch(run: RunContext, options: FetchOptions) -> Outcome:
    """Fetch every cited page that was not requested yet, and extract its text.

    Returns:
        `Completed` when every page has a status; `Cached` if every page had one; `Open` while pages
        wait for a second look because their host did not answer; `Partial` if something failed.
    """
    store, edition, began = run.store, options.edition, utc_now()
    agents = options.agents or []
    check_edition(store, edition)
    reports = f"SELECT {REPORTS_SHA} FROM reports WHERE edition = $1"
    fetched = {"edition": edition, "reports_sha": store.value(reports, [edition])}
    outcomes = [await extract_pending(run)]  # claims tell which pages reports cite
    outcomes += await _run_page_stages(run)
    failures = [failure for outcome in outcomes for failure in outcome.failures]
    await reopen_pages(store, edition, [
        page.url
        for fallback in list_fetch_sources(options.fallbacks)[1:]
        for page in find_pending_pages(store, edition, fallback, agents, early=True)
    ])  # fmt: skip
    await store.write_async(Change(FetchedEdition, [FetchedEdition(**fetched)]))
    export_edition(store, edition)
    await add_table_artifact(
        "pages",
        store.frame(PAGE_COUNTS, [edition]).to_dicts(),
        f"{edition}: the cited pages by status.",
    )
    await add_failures_artifact(failures)
    await add_costs_artifact(
        store, began, "neither pages nor the extraction of claims costs anything"
    )
    await add_lineage_artifact(run.plan, run.records)
    message = describe_archived(store, edition)
    if still_open := describe_open_pages(store, edition, agents):
        outcomes.append(Outcome("open", still_open))
        message = f"{message} {still_open}"
    return join_outcomes(message, outcomes, left="")


@warehouse_flow("read", ReadOptions, "read / {edition}", lock="pages")
async def read(run: RunContext, options: ReadOptions) -> Outcome:
    """Extract the text of every archived page again; fetch nothing.

    The next evaluation judges reports again that cite a page whose text has changed.
    """
    store, edition = run.store, options.edition
    check_edition(store, edition)
    n = len(run.plan.find_pending(READ_AGAIN))
    outcome = await run_stage(run, READ_AGAIN)
    export_edition(store, edition)
    await add_text_artifact(
        "pages", f"{format_count(n, 'page')} to read again.", f"{edition}: pages."
    )
    await add_failures_artifact(outcome.failures)
    return join_outcomes(
        f"{edition}: pages that were read again: {n:,}.", [outcome], left="Not read:"
    )


async def _run_page_stages(run: RunContext) -> list[Outcome]:
    """Fetch from each source and read what came; each stage finds what the one before left."""
    sources = {stage.name: source for source, stage in FETCH.items()}
    outcomes: list[Outcome] = []
    for stage in list_page_stages(run.plan):
        pages = run.plan.find_pending(stage)
        if pages and (source := sources.get(stage.name)):
            hosts = {urlsplit(page.url).netloc for page in pages}
            print_message(f"Pages to fetch ({source}): {len(pages):,}, of hosts: {len(hosts):,}.")
        outcomes.append(await run_stage(run, stage))
        if pages:
            run.plan = run.plan.renew()
    return outcomes
