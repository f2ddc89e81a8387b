"""Refresh a month's edition, from the wiki to the published leaderboard."""

from datetime import datetime

from prefect.context import FlowRunContext

from flows.ask import look_at_jobs
from flows.display.console import print_message
from flows.lineage import add_lineage_artifact
from flows.registry import load_flow
from flows.runtime.artifacts import add_costs_artifact, add_leaderboard_artifacts
from flows.runtime.budgets import check_month_budget
from flows.runtime.steps import WAITING, RunSteps
from flows.runtime.warehouse import hold_warehouse, open_terminal_run, plain_flow, tag_run
from flows.site_step import check_publishing, publish_month
from tasks.configuration.budgets import to_limit
from tasks.configuration.errors import ConfigurationError
from tasks.editions.refresh import load_refresh
from tasks.outcome import Outcome
from tasks.planning.edition_options import RefreshOptions
from tasks.planning.month import (
    Month,
    check_month,
    command_to_refresh,
    find_unfinished,
    make_refresh_row,
    resolve_month,
    sum_spent,
)
from tasks.planning.steps import list_month_steps
from tasks.run import Plan, RunContext, Selection
from tasks.warehouse.operations import MonthRefresh
from tasks.warehouse.pages import SeedPage
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change


def _format_run_name() -> str:
    """Format the run's name in the Prefect UI, also for an edition without a name yet."""
    context = FlowRunContext.get()
    asked = context.parameters.get("edition") if context and context.parameters else None
    try:
        return f"refresh / {asked or load_refresh().edition_of(_get_scheduled_time())}"
    except ConfigurationError:
        return "refresh"  # the run itself reports the error


@plain_flow("refresh", RefreshOptions, _format_run_name)
async def refresh(options: RefreshOptions) -> Outcome:
    """Collect a month's edition, get its reports, judge and publish them: all that is pending.

    Parameters that are not given come from `configs/refresh.yaml`, or from the edition's first run.
    Run again, it verifies a finished month; nothing is bought or fetched twice. Months that were
    left unfinished are named first, and their jobs under way looked at, which buys nothing.

    The run ends as `Completed`; as `Cached` if nothing was pending; as `Open` or `Partial` when
    something still is, with the steps concerned; as `Declined` when a person declined publication.
    """
    with await hold_warehouse(options.warehouse) as store:
        began, settings = utc_now(), load_refresh()
        month = resolve_month(store, settings, options, _get_scheduled_time())
        begun = make_refresh_row(month, options)
        await store.write_async(Change(MonthRefresh, [begun]))
        steps = RunSteps(month.edition, command_to_refresh(month.edition, options.model_dump()))
        usd = _calculate_remaining_budget(store, month)
        with open_terminal_run(Plan(store, Selection(edition=month.edition)), usd) as run:
            for edition, said in find_unfinished(store, settings, month.edition).items():
                steps.record(edition, Outcome("done", said, other_name=WAITING))
                await look_at_jobs(run, edition)
            check_month(store, month)
            await check_month_budget(store, month)
            await check_publishing(month)
            await tag_run(options, edition=month.edition, judge=month.judge)
            await steps.run_all(run_steps(steps, run, month))
        if not steps.stop:
            await add_leaderboard_artifacts(store, month.edition)
            await add_costs_artifact(store, began, "neither the agents nor the judge cost anything")
        path = store.url
    # From here on the warehouse is closed: a person may have to decide.
    if not steps.stop:
        await steps.run_all(publish_month(steps, month, path))
    await steps.add_artifact()
    if not steps.stop:
        outcome = "ok" if steps.outcome().is_complete else "incomplete"
        with await hold_warehouse(path) as store:
            plan = Plan(store, Selection(edition=month.edition))
            site = month.site.folder if month.site and steps.has_ended("publish") else ""
            await add_lineage_artifact(plan, run.records, site)
            ended = begun.model_copy(update={"outcome": outcome})
            await store.write_async(Change(MonthRefresh, [ended]))
    return steps.outcome()


async def run_steps(steps: RunSteps, run: RunContext, month: Month) -> None:
    """Run the month's steps in order. Each is a flow that does only what is pending, so an
    interrupted month resumes where it was. A step with pending items does not stop the next one;
    a failed step does."""
    for step in list_month_steps(run.store, month):
        await run.store.write_async(Change(SeedPage, step.seeds))
        if step.obstacle:
            steps.record(step.name, Outcome("partial", step.obstacle))
        else:
            await steps.run(step.name, load_flow(step.flow).within(run, step.options))


def _get_scheduled_time() -> datetime:
    """Return when this run was scheduled to start; a resumed run keeps that time."""
    context = FlowRunContext.get()
    planned = context.flow_run.expected_start_time if context and context.flow_run else None
    return planned or utc_now()


def _calculate_remaining_budget(store: Warehouse, month: Month) -> float | None:
    """Return the month's budget minus what earlier runs have spent of it; None: no limit."""
    limit = to_limit(month.budget_usd)
    if limit is None:
        return month.budget_usd
    spent = sum_spent(store, month)
    if spent:
        print_message(
            f"Earlier runs of {month.edition} have spent ${spent:,.2f} of the budget of "
            f"${limit:,.2f}."
        )
    return max(0.0, limit - spent)
