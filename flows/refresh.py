"""Refresh a month's edition, from the wiki to the published leaderboard."""

from datetime import datetime

from prefect import flow, tags
from prefect.client.schemas.objects import State
from prefect.context import FlowRunContext

from flows.ask import ask
from flows.assign import assign
from flows.collect import collect
from flows.display.console import print_message
from flows.evaluate import evaluate
from flows.fetch import fetch
from flows.runtime.artifacts import add_costs_artifact, add_leaderboard_artifacts
from flows.runtime.parameters import AskableAgent, Count, JudgeName, Usd
from flows.runtime.steps import PARTIAL, RunSteps
from flows.runtime.warehouse import hold_warehouse
from flows.site_step import check_publishing, publish_month
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.refresh import load_refresh
from tasks.costs.budget import open_budget
from tasks.planning.month import (
    Month,
    RefreshOptions,
    check_month,
    find_reporting_agents,
    group_agents,
    has_pages,
    has_prompts,
    is_frozen,
    resolve_month,
    searches_archive,
    sum_spent,
)
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse


async def run_steps(steps: RunSteps, store: Warehouse, month: Month) -> None:
    """Run the month's steps in order. Each is a flow that does only what is pending, so an
    interrupted month resumes where it was. A step with pending items does not stop the next one;
    a failed step does."""
    edition, path = month.edition, store.url
    window = month.created_from, month.created_to

    await steps.run("collect", collect(
        edition, *window, month.articles, month.wiki_api, warehouse=path, return_state=True
    ))  # fmt: skip
    if not is_frozen(store, edition):
        return
    for protocol in month.protocols:
        await steps.run(f"assign {protocol}", assign(
            edition, protocol, month.judge, batch=month.batch, warehouse=path, return_state=True
        ))  # fmt: skip
    if not has_prompts(store, edition):
        return
    for agents in group_agents(month):
        step = f"ask {', '.join(agents)}"
        if searches_archive(agents[0]) and not has_pages(store, edition):
            steps.record(step, PARTIAL, "No archived page to search: ask agents that cite pages.")
            continue
        await steps.run(step, ask(edition, agents, warehouse=path, return_state=True))
        if wrote := find_reporting_agents(store, edition, agents):
            await steps.run("fetch", fetch(
                edition, wrote, extractor=month.extractor, warehouse=path, return_state=True
            ))  # fmt: skip
    if not (wrote := find_reporting_agents(store, edition, month.agents)):
        return
    await steps.run("evaluate", evaluate(
        edition, None, wrote, month.judge, path, month.extractor, batch=month.batch,
        return_state=True,
    ))  # fmt: skip


def _format_run_name() -> str:
    """Format the run's name in the Prefect UI, also for an edition without a name yet."""
    context = FlowRunContext.get()
    asked = context.parameters.get("edition") if context and context.parameters else None
    try:
        return f"refresh · {asked or load_refresh().edition_of(_get_scheduled_time())}"
    except ConfigurationError:
        return "refresh"  # the run itself reports the error


@flow(name="refresh", flow_run_name=_format_run_name)
async def refresh(
    edition: str | None = None,
    created_from: datetime | None = None,
    created_to: datetime | None = None,
    articles: Count | None = None,
    wiki_api: str | None = None,
    agents: list[AskableAgent] | None = None,
    judge: JudgeName | None = None,
    extractor: JudgeName | None = None,
    budget_usd: Usd | None = None,
    batch: bool | None = None,
    to_publish: bool = True,
    site: str | None = None,
    approve: bool | None = None,
    warehouse: str = "data/warehouse.duckdb",
) -> State[None]:
    """Collect a month's edition, get its reports, judge and publish them: all that is pending.

    Parameters that are not given come from `configs/refresh.yaml`, or from the edition's first run.
    Run again, it verifies a finished month; nothing is bought or fetched twice.

    Args:
        edition: its name; that of the month for which this run was scheduled unless given.
        created_from: first day (UTC) of the window in which its articles were created.
        created_to: the day after the window's last; the day of the schedule unless given.
        articles: how many to choose.
        wiki_api: a wiki other than that of `configs/wikipedia.yaml`.
        agents: agents of `configs/agents.yaml` that can be asked.
        judge: a judge of `configs/judges.yaml`.
        extractor: a judge that extracts facts and claims.
        budget_usd: the most the month may spend on agents and judges in all its runs.
        batch: use the batch APIs of judges' models.
        to_publish: if off, no site is written.
        site: the site's folder, replaced as a whole.
        approve: show a person what would be published, and wait for the decision.
        warehouse: a DuckDB file or a lake's address; waits while another process owns the file.

    Returns:
        `Completed`; a completed state named `Partial` when something is still pending, with the
        steps concerned; `Declined` when a person declined publication.
    """
    options = RefreshOptions(
        edition=edition, created_from=created_from, created_to=created_to, articles=articles,
        wiki_api=wiki_api, agents=agents, judge=judge, extractor=extractor, batch=batch,
        budget_usd=budget_usd, site=site, approve=approve, publish=to_publish,
    )  # fmt: skip
    with await hold_warehouse(warehouse) as store:
        month, began = (
            resolve_month(store, load_refresh(), options, _get_scheduled_time()),
            utc_now(),
        )
        check_month(store, month)
        await check_publishing(month)
        steps = RunSteps(month.edition)
        with (
            open_budget(store, _calculate_remaining_budget(store, month)),
            tags(f"edition:{month.edition}"),
        ):
            await steps.run_all(run_steps(steps, store, month))
        if not steps.stop:
            await add_leaderboard_artifacts(store, month.edition)
            await add_costs_artifact(store, began, "neither the agents nor the judge cost anything")
        path = store.url
    # From here on the warehouse is closed: a person may have to decide.
    if not steps.stop:
        await steps.run_all(publish_month(steps, month, path))
    await steps.add_artifact()
    return steps.outcome()


def _get_scheduled_time() -> datetime:
    """Return when this run was scheduled to start; a resumed run keeps that time."""
    context = FlowRunContext.get()
    planned = context.flow_run.expected_start_time if context and context.flow_run else None
    return planned or utc_now()


def _calculate_remaining_budget(store: Warehouse, month: Month) -> float | None:
    """Return the month's budget minus what earlier runs have spent of it; None: no limit."""
    if month.budget_usd is None:
        return None
    spent = sum_spent(store, month)
    if spent:
        print_message(
            f"Earlier runs of {month.edition} have spent ${spent:,.2f} of the budget of "
            f"${month.budget_usd:,.2f}."
        )
    return max(0.0, month.budget_usd - spent)
