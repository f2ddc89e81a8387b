"""Refresh a month's edition, from the wiki to the published leaderboard."""

import inspect
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from prefect import tags
from prefect.client.schemas.objects import State
from prefect.context import FlowRunContext

from flows.ask import ask, look_at_jobs
from flows.assign import assign
from flows.collect import collect
from flows.display.console import print_message
from flows.evaluate import evaluate
from flows.fetch import fetch
from flows.runtime.artifacts import add_costs_artifact, add_leaderboard_artifacts
from flows.runtime.steps import PARTIAL, WAITING, RunSteps
from flows.runtime.warehouse import hold_warehouse, recorded_flow
from flows.site_step import check_publishing, publish_month
from tasks.configuration.errors import ConfigurationError
from tasks.costs.budget import open_budget
from tasks.editions.refresh import load_refresh
from tasks.planning.month import (
    Month,
    RefreshOptions,
    check_month,
    command_to_refresh,
    find_reporting_agents,
    find_unfinished,
    group_agents,
    has_pages,
    has_prompts,
    is_frozen,
    resolve_month,
    searches_archive,
    sum_spent,
)
from tasks.planning.sources import choose_seed_pages, find_missing_sources, is_given_sources
from tasks.warehouse.pages import SeedPage
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change

FlowFunction = TypeVar("FlowFunction", bound=Callable[..., Any])


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
        if is_given_sources(agents[0]):
            [agent] = agents
            seeds = choose_seed_pages(store, edition, agent, month.reference_pages)
            await store.write_async(Change(SeedPage, seeds))
            await steps.run("fetch references", fetch(
                edition, agents, extractor=month.extracted_by, warehouse=path, return_state=True
            ))  # fmt: skip
            if reason := find_missing_sources(store, edition, agent):
                steps.record(step, PARTIAL, reason)
                continue
        if searches_archive(agents[0]) and not has_pages(store, edition):
            steps.record(step, PARTIAL, "No archived page to search: ask agents that cite pages.")
            continue
        await steps.run(step, ask(edition, agents, warehouse=path, return_state=True))
        if wrote := find_reporting_agents(store, edition, agents):
            await steps.run("fetch", fetch(
                edition, wrote, extractor=month.extracted_by, warehouse=path, return_state=True
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


class RefreshParameters(RefreshOptions):
    """The flow's parameters."""

    warehouse: str = "data/warehouse.duckdb"
    """A DuckDB file or a lake's address; waits while another process owns the file."""


def _declare_parameters(function: FlowFunction) -> FlowFunction:
    """Let Prefect, which reads signatures and docstrings, see the fields as parameters."""
    fields = RefreshParameters.model_fields.items()
    described = [f"    {name}: {field.description}" for name, field in fields]
    shown: Any = function
    shown.__signature__ = inspect.signature(RefreshParameters)
    shown.__doc__ = "\n".join([inspect.getdoc(function) or "", "", "Args:", *described])
    return function


@recorded_flow("refresh", _format_run_name)
@_declare_parameters
async def refresh(**given: Any) -> State[None]:
    """Collect a month's edition, get its reports, judge and publish them: all that is pending.

    Parameters that are not given come from `configs/refresh.yaml`, or from the edition's first run.
    Run again, it verifies a finished month; nothing is bought or fetched twice. Months that were
    left unfinished are named first, and their jobs under way looked at, which buys nothing.

    The run ends as `Completed`; as `Partial` when something is still pending, with the steps
    concerned; as `Declined` when a person declined publication.
    """
    options = RefreshParameters.model_validate(given)
    with await hold_warehouse(options.warehouse) as store:
        began, settings = utc_now(), load_refresh()
        month = resolve_month(store, settings, options, _get_scheduled_time())
        steps = RunSteps(month.edition, command_to_refresh(month.edition, options.model_dump()))
        for edition, said in find_unfinished(store, settings, month.edition).items():
            steps.record(edition, WAITING, said)
            await look_at_jobs(store, edition)
        check_month(store, month)
        await check_publishing(month)
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
