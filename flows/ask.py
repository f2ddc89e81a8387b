"""Ask agents for an edition's pending reports."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, closing
from functools import partial

from prefect import tags
from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows.display.console import print_message
from flows.runtime.artifacts import add_costs_artifact, add_failures_artifact, add_table_artifact
from flows.runtime.task_runs import Failure, format_failures, run_items, run_task_for_error
from flows.runtime.warehouse import hold_warehouse, recorded_flow
from tasks.agents.kinds.file_drop import FileDropAsk
from tasks.base import format_count
from tasks.costs.budget import open_budget
from tasks.editions.names import check_edition
from tasks.errors import ExpectedError
from tasks.jobs.file_drop import PROMPTS, exchange_files
from tasks.jobs.rows import suggest_ask_again
from tasks.jobs.searches import collect_searches
from tasks.jobs.sessions import check_agents, load_ask_entry, open_job_runner
from tasks.pending.reports import (
    PendingReport,
    check_askable,
    find_jobs_under_way,
    find_pending_reports,
)
from tasks.planning.parameters import AskableAgent, Count, Usd
from tasks.processes.pool import HELPERS
from tasks.reports import get_report
from tasks.scoring.agent_models import describe_models, load_models
from tasks.warehouse.rows import utc_now
from tasks.warehouse.snapshot import export_edition, is_snapshot_current
from tasks.warehouse.store import Warehouse

COSTS = """
SELECT agent, asked_reports, jobs, round(usd, 4) AS usd, jobs_without_cost, searches, input_tokens,
    output_tokens, reasoning_tokens
FROM report_costs WHERE edition = $1 AND agent IN (SELECT unnest($2)) ORDER BY agent
"""


@recorded_flow("ask", "ask · {edition}")
async def ask(
    edition: str,
    agents: list[AskableAgent],
    assignments: list[str] | None = None,
    first: Count | None = None,
    budget_usd: Usd | None = None,
    warehouse: str = "data/warehouse.duckdb",
) -> State[None]:
    """Get the reports of an edition that its agents have not delivered yet.

    Args:
        edition: its name in the warehouse.
        agents: agents of `configs/agents.yaml` that can be asked.
        assignments: only these; all that have a prompt unless given.
        first: only this many pending reports of each agent, in the assignments' order.
        budget_usd: the most this run may spend; no limit unless given.
        warehouse: a DuckDB file or a lake's address; waits while another process owns the file.

    Returns:
        `Completed`, or a completed state named `Partial` when reports are still pending.
    """
    with (
        await hold_warehouse(warehouse, f"reports of {edition}") as store,
        open_budget(store, budget_usd) as budget,
        tags(f"edition:{edition}"),
        closing(HELPERS),
    ):
        began = utc_now()
        agents = list(dict.fromkeys(agents))  # ask an agent that is named twice only once
        check_edition(store, edition)
        check_askable(store, edition, assignments or ())
        check_agents(agents, budget.usd)
        wanted = [
            item
            for agent in agents
            for item in _select_reports(
                find_pending_reports(store, edition, agent, assignments or ()), first
            )
        ]
        failures = await _get_reports(store, edition, agents, wanted)
        left = _count_missing(store, wanted)
        came = len(wanted) - left
        models = load_models(store, edition)
        mixed = [
            f" {agent} answered as {described}."
            for agent in agents
            if (described := describe_models(models.get(agent, ())))
        ]
        if not is_snapshot_current(store, edition):
            export_edition(store, edition)
        await add_table_artifact(
            "reports",
            store.frame(COSTS, [edition, agents]).to_dicts(),
            f"{edition}: jobs of these agents and their costs, so far.",
        )
        await add_failures_artifact(failures)
        await add_costs_artifact(store, began, "no job was sent to these agents")
    message = f"{edition}: {format_count(came, 'report')} received" + (
        f", ${budget.spent:,.2f} spent in this run." if budget.spent else "."
    )
    message += "".join(mixed)
    if not left:
        return Completed(message=message)
    return Completed(
        name="Partial",
        message=f"{message} Still missing: {left}. {format_failures(failures)}",
    )


async def look_at_jobs(store: Warehouse, edition: str) -> None:
    """Look once at an edition's jobs under way, and keep the reports that have come. Nothing is
    bought, and what cannot be looked at is only told."""
    wanted, failures = find_jobs_under_way(store, edition), list[Failure]()
    for agent in sorted({item.agent for item in wanted}):
        items = [item for item in wanted if item.agent == agent]
        try:
            failures += await _ask_for_reports(store, edition, items, only_looks=True)
        except ExpectedError as error:
            failures.append(Failure("reports", agent, str(error)))
    if n := len(wanted):
        came = n - _count_missing(store, wanted)
        print_message(f"{edition}: {came} of {n} reports came.{format_failures(failures)}")


def _select_reports(missing: Sequence[PendingReport], first: int | None) -> list[PendingReport]:
    """Limit each agent's reports to `first`; put those with a running job first."""
    chosen = missing if first is None else missing[:first]
    return sorted(chosen, key=lambda item: (item.next_step != "resume", item.assignment))


async def _get_reports(
    store: Warehouse, edition: str, agents: Sequence[str], wanted: Sequence[PendingReport]
) -> list[Failure]:
    """Import the reports that come as files, and ask for the others."""
    drops = {
        agent: ask for agent in agents if isinstance(ask := load_ask_entry(agent), FileDropAsk)
    }
    failures = await asyncio.to_thread(_import_dropped_reports, store, edition, drops, wanted)
    to_ask = [item for item in wanted if item.agent not in drops]
    failures += await _ask_for_reports(store, edition, to_ask)
    for agent in agents:
        ask = load_ask_entry(agent)
        await collect_searches(store, edition, agent, ask, partial(print_message, style="yellow"))
    return failures


async def _ask_for_reports(
    store: Warehouse, edition: str, wanted: Sequence[PendingReport], *, only_looks: bool = False
) -> list[Failure]:
    """Run a task for every report, except for those that need a person."""
    to_get = [item for item in wanted if item.next_step != "manual"]
    left = [
        Failure("reports", f"{item.agent} · {item.title}", _describe_last_job(item))
        for item in wanted
        if item.next_step == "manual"
    ]
    by_agent = Counter(item.agent for item in to_get)
    concurrency = {agent: load_ask_entry(agent).limits.concurrency for agent in by_agent}
    async with AsyncExitStack() as open_agents:
        for agent in sorted(by_agent):
            runner = await open_agents.enter_async_context(
                open_job_runner(store, edition, agent, partial(print_message, style="yellow"))
            )
            runner.only_looks = only_looks

        failures = await run_items(
            "reports",
            [(f"{item.agent} · {item.title}", item) for item in to_get],
            lambda item: run_task_for_error(get_report, store, item),
            concurrency=concurrency,
            group=lambda item: item.agent,
        )
    return failures + left


def _import_dropped_reports(
    store: Warehouse,
    edition: str,
    drops: Mapping[str, FileDropAsk],
    wanted: Sequence[PendingReport],
) -> list[Failure]:
    """Import the reports that people put into agents' folders; return those still missing."""
    failures: list[Failure] = []
    for agent, drop in drops.items():
        missing = [item for item in wanted if item.agent == agent]
        left = exchange_files(store, edition, agent, drop, missing)
        failures += [Failure("reports", f"{agent} · {f.path}", "; ".join(f.remarks)) for f in left]
        if n := _count_missing(store, missing):
            where = f"{n} prompts are in {drop.folder}/{PROMPTS}; put the reports into the folder"
            failures.append(Failure("reports", agent, where))
    return failures


def _describe_last_job(item: PendingReport) -> str:
    job = item.jobs[-1]
    return f"{job.state}: {job.error}; {suggest_ask_again(job)}"


def _count_missing(store: Warehouse, wanted: Sequence[PendingReport]) -> int:
    """Count the wanted reports that are still missing."""
    stored = set(
        store.frame(
            "SELECT agent, assignment FROM reports WHERE edition = $1",
            [wanted[0].edition if wanted else ""],
        ).iter_rows()
    )
    return sum((item.agent, item.assignment) not in stored for item in wanted)
