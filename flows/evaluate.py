"""Evaluate an edition from its reports to the leaderboard, doing only what is pending."""

from flows.display.console import print_message
from flows.lineage import add_lineage_artifact
from flows.runtime.artifacts import (
    add_costs_artifact,
    add_failures_artifact,
    add_leaderboard_artifacts,
)
from flows.runtime.task_runs import run_together
from flows.runtime.warehouse import warehouse_flow
from flows.stages import extract_pending, run_stage
from tasks.claims import describe_kept_extractions
from tasks.diagnostics import DIAGNOSTICS
from tasks.editions.names import check_selection
from tasks.key_points import KEY_POINTS
from tasks.leaderboard import LEADERBOARD
from tasks.outcome import Outcome, join_outcomes
from tasks.planning.options import EvaluateOptions
from tasks.run import RunContext
from tasks.scores import SCORES
from tasks.verdicts import VERDICTS, describe_judged
from tasks.warehouse.locks import hold_lock
from tasks.warehouse.rows import utc_now
from tasks.warehouse.snapshot import export_edition, is_snapshot_current


@warehouse_flow("evaluate", EvaluateOptions, "evaluate / {edition}")
async def evaluate(run: RunContext, options: EvaluateOptions) -> Outcome:
    """Judge, score and rank the pending reports of an edition.

    Returns:
        `Completed`; `Cached` if nothing was pending; `Partial` when something still is: failed or
        open items, or a budget, quota or model that stopped the run.
    """
    of, began = run.plan.selection, utc_now()
    check_selection(run.store, of.edition, of.protocols, of.agents, of.judge)
    outcomes = await _run_stages(run)
    failures = [failure for outcome in outcomes for failure in outcome.failures]
    await add_leaderboard_artifacts(run.store, of.edition)
    await add_failures_artifact(failures)
    await add_costs_artifact(run.store, began, f"the judge {of.judge} calls no model")
    await add_lineage_artifact(run.plan, run.records)
    if not failures:
        return join_outcomes(describe_judged(run.plan), outcomes)
    return join_outcomes("Not everything could be done.", outcomes, left="Pending:")


async def _run_stages(run: RunContext) -> list[Outcome]:
    """Run every stage in the order of the data; return what became of each. Processes that share a
    warehouse share the cells; the other stages, which take minutes, run in one at a time."""
    store, edition = run.store, run.plan.selection.edition
    outcomes = [await extract_pending(run)]
    for several in await run_together([_measure_style(run), _judge(run)]):
        outcomes += several
    async with hold_lock(store.locks, f"scoring of {edition}", print_message):
        run.renew_if_shared()
        outcomes.append(await run_stage(run, SCORES))
        outcomes.append(await run_stage(run, LEADERBOARD))
        if outcomes[-1].kind == "cached" and not is_snapshot_current(store, edition):
            export_edition(store, edition)  # a run was interrupted between the two
    return outcomes


async def _measure_style(run: RunContext) -> list[Outcome]:
    """Measure what needs no verdict: it takes no time from judges, who wait for endpoints."""
    lock = f"style of {run.plan.selection.edition}"
    async with hold_lock(run.store.locks, lock, print_message):
        run.renew_if_shared()
        return [await run_stage(run, DIAGNOSTICS)]


async def _judge(run: RunContext) -> list[Outcome]:
    lock = f"preparation of {run.plan.selection.edition}"
    async with hold_lock(run.store.locks, lock, print_message):
        run.renew_if_shared()
        outcomes = [await run_stage(run, KEY_POINTS)]
        if outcomes[-1].kind != "cached":
            run.plan = run.plan.renew()
    if run.plan.find_pending(VERDICTS) and (kept := describe_kept_extractions(run.plan)):
        print_message(kept, "yellow")
    outcomes.append(await run_stage(run, VERDICTS))
    if outcomes[-1].kind != "cached":
        run.plan = run.plan.renew()
    return outcomes
