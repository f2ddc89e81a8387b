"""Evaluate an edition from its reports to the leaderboard, doing only what is pending."""

from collections.abc import Iterator

from prefect import tags
from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows.display.console import print_message
from flows.runtime.artifacts import (
    add_costs_artifact,
    add_failures_artifact,
    add_leaderboard_artifacts,
)
from flows.runtime.task_runs import Failure, format_failures
from flows.runtime.warehouse import warehouse_flow
from flows.stages import extract_pending, run_stage_flow
from tasks.base import format_count
from tasks.claims import describe_kept_extractions
from tasks.diagnostics import DIAGNOSTICS
from tasks.editions.names import check_selection
from tasks.key_points import KEY_POINTS
from tasks.leaderboard import LEADERBOARD
from tasks.planning.options import EvaluateOptions
from tasks.run import Plan, RunContext
from tasks.scores import SCORES
from tasks.verdicts import VERDICTS, describe_judged, select_cells
from tasks.warehouse.locks import hold_lock
from tasks.warehouse.rows import OPEN_STATUSES, utc_now
from tasks.warehouse.snapshot import export_edition, is_snapshot_current


@warehouse_flow("evaluate", EvaluateOptions, "evaluate · {edition}")
async def evaluate(run: RunContext, options: EvaluateOptions) -> State[None]:
    """Judge, score and rank the pending reports of an edition.

    Returns:
        `Completed`, or a completed state named `Partial` when something is still pending: failed
        or open items, or a budget, quota or model that stopped the run.
    """
    of, began = run.plan.selection, utc_now()
    check_selection(run.store, of.edition, of.protocols, of.agents, of.judge)
    with tags(f"judge:{of.judge}"):
        failures = await _run_stages(run)
        await add_leaderboard_artifacts(run.store, of.edition)
        await add_failures_artifact(failures)
        await add_costs_artifact(run.store, began, f"the judge {of.judge} calls no model")
    if not failures:
        return Completed(message=describe_judged(run.plan))
    return Completed(
        name="Partial",
        message=f"Not everything could be done. Pending: {format_failures(failures)}",
    )


async def _run_stages(run: RunContext) -> list[Failure]:
    """Run every stage with something pending, in the order of the data; return what could not be
    done. Processes that share a warehouse share the cells; the other stages, which take minutes,
    run in one at a time."""
    store, edition = run.store, run.plan.selection.edition
    failures = await extract_pending(run)
    async with hold_lock(store.locks, f"preparation of {edition}", print_message):
        run.renew_if_shared()
        failures += await run_stage_flow(run, DIAGNOSTICS)
        if run.plan.find_pending(KEY_POINTS):
            failures += await run_stage_flow(run, KEY_POINTS)
            run.plan = run.plan.renew()
    if run.plan.find_pending(VERDICTS):
        if kept := describe_kept_extractions(run.plan):
            print_message(kept, "yellow")
        failures += await run_stage_flow(run, VERDICTS)
        run.plan = run.plan.renew()
    async with hold_lock(store.locks, f"scoring of {edition}", print_message):
        run.renew_if_shared()
        failures += list_open_items(run.plan)
        failures += await run_stage_flow(run, SCORES)
        if run.plan.find_pending(LEADERBOARD):
            await run_stage_flow(run, LEADERBOARD)
        elif not is_snapshot_current(store, edition):  # a run was interrupted between the two
            export_edition(store, edition)
    return failures


def list_open_items(plan: Plan) -> Iterator[Failure]:
    """Count the open items of the selected cells by protocol and status; the next run asks about
    them again."""
    frame = plan.store.frame(
        "SELECT protocol, status, count(*) AS n, min(reason) AS reason FROM verdicts "
        "WHERE cell_id IN (SELECT unnest($1)) AND status IN (SELECT unnest($2)) "
        "GROUP BY ALL ORDER BY ALL",
        [[cell.cell_id for cell in plan.ask(select_cells)], [str(s) for s in OPEN_STATUSES]],
    )
    for protocol, status, n, reason in frame.iter_rows():
        yield Failure(
            "verdicts", f"{format_count(n, 'item')} of {protocol}: {status}", f"e.g. {reason}"
        )
