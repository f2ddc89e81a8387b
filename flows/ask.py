"""Ask agents for an edition's pending reports."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial

from flows.display.console import print_message
from flows.lineage import add_lineage_artifact
from flows.runtime.artifacts import add_costs_artifact, add_failures_artifact, add_table_artifact
from flows.runtime.warehouse import warehouse_flow
from flows.stages import run_stage
from tasks.agents.kinds.file_drop import FileDropAsk
from tasks.base import format_count
from tasks.editions.names import check_edition
from tasks.errors import ExpectedError
from tasks.jobs.file_drop import PROMPTS, exchange_files
from tasks.jobs.pending import PendingReport, check_askable
from tasks.jobs.rows import suggest_ask_again
from tasks.jobs.searches import collect_searches
from tasks.jobs.sessions import check_agents, load_ask_entry
from tasks.outcome import Failure, Outcome, format_failures, join_outcomes
from tasks.planning.options import AskOptions
from tasks.reports import JOBS_UNDER_WAY, REPORTS
from tasks.run import RunContext, Selection
from tasks.scoring.agent_models import describe_models, load_models
from tasks.warehouse.rows import utc_now
from tasks.warehouse.snapshot import export_edition, is_snapshot_current
from tasks.warehouse.store import Warehouse

COSTS = """
SELECT agent, asked_reports, jobs, round(usd, 4) AS usd, jobs_without_cost, searches, input_tokens,
    output_tokens, reasoning_tokens
FROM report_costs WHERE edition = $1 AND agent IN (SELECT unnest($2)) ORDER BY agent
"""


@warehouse_flow("ask", AskOptions, "ask / {edition}", lock="reports of {edition}")
async def ask(run: RunContext, options: AskOptions) -> Outcome:
    """Get the reports of an edition that its agents have not delivered yet.

    Returns:
        `Completed`; `Cached` if no report was missing; `Partial` when some still are.
    """
    store, edition = run.store, options.edition
    began, spent = utc_now(), run.budget.spent
    agents = run.plan.selection.agents
    check_edition(store, edition)
    check_askable(store, edition, options.assignments or ())
    check_agents(agents, run.budget.usd)
    wanted = run.plan.find_pending(REPORTS)
    outcome, failures = await _get_reports(run, wanted)
    left = _count_missing(store, wanted)
    if not is_snapshot_current(store, edition):
        export_edition(store, edition)
    await add_table_artifact(
        "reports",
        store.frame(COSTS, [edition, [*agents]]).to_dicts(),
        f"{edition}: jobs of these agents and their costs, so far.",
    )
    await add_failures_artifact(failures)
    await add_costs_artifact(store, began, "no job was sent to these agents")
    await add_lineage_artifact(run.plan, run.records)
    message = f"{edition}: {format_count(len(wanted) - left, 'report')} received"
    usd = run.budget.spent - spent
    message += f", ${usd:,.2f} spent in this run." if usd else "."
    models = load_models(store, edition)
    for agent in agents:
        if described := describe_models(models.get(agent, ())):
            message += f" {agent} answered as {described}."
    if not left:
        return Outcome("done" if wanted else outcome.kind, message)
    missing = [Outcome("partial", "")]
    return join_outcomes(message, missing, failures, left=f"Still missing: {left}.")


async def look_at_jobs(run: RunContext, edition: str) -> None:
    """Look once at an edition's jobs under way, and keep the reports that have come. Nothing is
    bought, and what cannot be looked at is only told."""
    part = run.begin_part(Selection(edition=edition))
    wanted, failures = part.plan.find_pending(JOBS_UNDER_WAY), list[Failure]()
    for agent in sorted({item.agent for item in wanted}):
        try:
            looked = await run_stage(part, JOBS_UNDER_WAY, partial(_is_of, agent))
            failures += looked.failures
        except ExpectedError as error:
            failures.append(Failure("reports", agent, str(error)))
    if n := len(wanted):
        came = n - _count_missing(run.store, wanted)
        print_message(f"{edition}: {came} of {n} reports came.{format_failures(failures)}")


def _is_of(agent: str, item: PendingReport) -> bool:
    return item.agent == agent


async def _get_reports(
    run: RunContext, wanted: Sequence[PendingReport]
) -> tuple[Outcome, list[Failure]]:
    """Import the reports that come as files, and ask for the others but those that need a person;
    return what became of these, and all that could not be done."""
    of = run.plan.selection
    asks = {agent: load_ask_entry(agent) for agent in of.agents}
    drops = {agent: ask for agent, ask in asks.items() if isinstance(ask, FileDropAsk)}
    failures = await asyncio.to_thread(
        _import_dropped_reports, run.store, of.edition, drops, wanted
    )
    outcome = await run_stage(
        run, REPORTS, lambda item: item.agent not in drops and item.next_step != "manual"
    )
    failures += outcome.failures
    for item in wanted:
        if item.agent not in drops and item.next_step == "manual":
            job = item.jobs[-1]
            why = f"{job.state}: {job.error}; {suggest_ask_again(job)}"
            failures.append(Failure("reports", REPORTS.title(item), why))
    for agent, ask_entry in asks.items():
        await collect_searches(run.store, of.edition, agent, ask_entry, run.warn)
    return outcome, failures


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
        failures += [Failure("reports", f"{agent} / {f.path}", "; ".join(f.remarks)) for f in left]
        if n := _count_missing(store, missing):
            where = f"{n} prompts are in {drop.folder}/{PROMPTS}; put the reports into the folder"
            failures.append(Failure("reports", agent, where))
    return failures


def _count_missing(store: Warehouse, wanted: Sequence[PendingReport]) -> int:
    """Count the wanted reports that are still missing."""
    stored = set(
        store.frame(
            "SELECT agent, assignment FROM reports WHERE edition = $1",
            [wanted[0].edition if wanted else ""],
        ).iter_rows()
    )
    return sum((item.agent, item.assignment) not in stored for item in wanted)
