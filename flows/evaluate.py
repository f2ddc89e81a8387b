"""Evaluate an edition from its reports to the leaderboard, doing only what is pending."""

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
from flows.runtime.warehouse import hold_warehouse, recorded_flow
from flows.stages import (
    diagnostics_stage,
    extract_pending,
    key_points_stage,
    leaderboard_stage,
    list_open_items,
    scores_stage,
    verdicts_stage,
)
from tasks.configuration.models import load_judges
from tasks.costs.budget import open_budget
from tasks.editions.names import check_selection
from tasks.judging.cells import CellPlan
from tasks.judging.protocols import choose_protocols
from tasks.pending.evaluation import (
    Evaluation,
    compute_current_rows,
    describe_kept_extractions,
    describe_outcome,
    find_pending_cells,
    find_pending_diagnostics,
    find_pending_scores,
    plan_run_cells,
    select_cells,
    select_key_points,
)
from tasks.planning.parameters import ExtractorName, JudgeName, ProtocolName, Usd
from tasks.processes.pool import HELPERS
from tasks.scoring.rows import is_current
from tasks.warehouse.locks import hold_lock
from tasks.warehouse.rows import utc_now
from tasks.warehouse.snapshot import export_edition, is_snapshot_current


@recorded_flow("evaluate", "evaluate · {edition}")
async def evaluate(
    edition: str,
    protocols: list[ProtocolName] | None = None,
    agents: list[str] | None = None,
    judge: JudgeName | None = None,
    warehouse: str = "data/warehouse.duckdb",
    extractor: ExtractorName | None = None,
    budget_usd: Usd | None = None,
    batch: bool = False,
    assignments: list[str] | None = None,
    extract_again: bool = False,
) -> State[None]:
    """Judge, score and rank the pending reports of an edition.

    Args:
        edition: its name in the warehouse.
        protocols: those made for the edition's source unless given.
        agents: all of the edition's unless given.
        judge: the default of `configs/judges.yaml` unless given.
        warehouse: a DuckDB file or a lake's address; waits while another process owns the file.
        extractor: who extracts facts and claims that nobody has extracted: a judge, or `offline`;
            unless given, the judge if it calls a model. Without a budget it must be named.
        budget_usd: the most this run may spend on models; no limit unless given.
        batch: use the models' batch APIs: cheaper, within a day.
        assignments: judge only the reports of these; all unless given. The others count as open,
            so the figures are provisional.
        extract_again: have the extractor replace what others have extracted; what is published
            stays.

    Returns:
        `Completed`, or a completed state named `Partial` when something is still pending: failed
        or open items, or a budget, quota or model that stopped the run.
    """
    with await hold_warehouse(warehouse) as store:
        run = Evaluation(
            warehouse=store.url,
            edition=edition,
            protocols=choose_protocols(store, edition, protocols or ()),
            agents=tuple(agents or ()),
            judge=judge or load_judges().default,
            extractor=extractor,
            batch=batch,
            assignments=tuple(assignments or ()),
            extract_again=extract_again,
        )
        began = utc_now()
        check_selection(store, run.edition, run.protocols, run.agents, run.judge)
        try:
            with tags(f"edition:{edition}", f"judge:{run.judge}"), open_budget(store, budget_usd):
                failures, cells = await _evaluate(run)
                await add_leaderboard_artifacts(run.store, run.edition)
                await add_failures_artifact(failures)
                await add_costs_artifact(run.store, began, f"the judge {run.judge} calls no model")
        finally:
            HELPERS.close()
    if not failures:
        return Completed(message=describe_outcome(run, cells))
    return Completed(
        name="Partial",
        message=f"Not everything could be done. Pending: {format_failures(failures)}",
    )


async def _evaluate(run: Evaluation) -> tuple[list[Failure], list[CellPlan]]:
    """Run every stage with something pending, in the order of the data. Processes that share a
    warehouse share the cells; the other stages, which take minutes, run in one at a time.

    Returns:
        What could not be done, and the run's cells as they are now.
    """
    store = run.store
    failures = await extract_pending(run)
    async with hold_lock(store.locks, f"preparation of {run.edition}", print_message):
        if unmeasured := find_pending_diagnostics(store, run.edition, run.agents):
            failures += await diagnostics_stage(run, unmeasured)
        if without_points := select_key_points(run):
            failures += await key_points_stage(run, without_points)
    cells = select_cells(run, plan_run_cells(run))
    if unjudged := find_pending_cells(cells):
        if kept := describe_kept_extractions(run):
            print_message(kept, "yellow")
        failures += await verdicts_stage(run, unjudged)
    async with hold_lock(store.locks, f"scoring of {run.edition}", print_message):
        every = plan_run_cells(run)
        cells = select_cells(run, every)
        failures += list_open_items(run, cells)
        if unscored := find_pending_scores(store, every):
            failures += await scores_stage(run, unscored)
        rows = compute_current_rows(run)
        if not is_current(store, run.edition, rows):
            await leaderboard_stage(run, rows)
        elif not is_snapshot_current(store, run.edition):  # a run was interrupted between the two
            export_edition(store, run.edition)
    return failures, cells
