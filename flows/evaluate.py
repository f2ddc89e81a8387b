"""Evaluate an edition: from its reports to the leaderboard, doing only what is pending."""

from datetime import datetime

from prefect import flow, tags
from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows.display.console import remark
from flows.runtime.artifacts import leave_costs, leave_failures, leave_leaderboard
from flows.runtime.fan_out import Failure, partial_message
from flows.runtime.parameters import JudgeName, ProtocolName, Usd
from flows.runtime.warehouse import hold_warehouse
from flows.stages import (
    claims_stage,
    diagnostics_stage,
    key_points_stage,
    leaderboard_stage,
    open_items,
    scores_stage,
    verdicts_stage,
)
from tasks.configuration.models import load_judges
from tasks.costs.budget import spending
from tasks.editions.names import check_selection
from tasks.judging.protocols import protocols_for
from tasks.pending.diagnostics import undiagnosed
from tasks.pending.evaluation import (
    Evaluation,
    chosen,
    current_rows,
    outcome,
    pending,
    pending_extractions,
    pending_points,
    planned_cells,
    unscored_groups,
)
from tasks.processes.pool import HELPERS
from tasks.scoring.rows import is_current
from tasks.warehouse.rows import utc_now
from tasks.warehouse.snapshot import export_edition, is_exported
from tasks.warehouse.store import get_open_warehouse
from tasks.warehouse.turns import turn


@flow(name="evaluate", flow_run_name="evaluate · {edition}")
async def evaluate(
    edition: str,
    protocols: list[ProtocolName] | None = None,
    agents: list[str] | None = None,
    judge: JudgeName | None = None,
    warehouse: str = "data/warehouse.duckdb",
    extractor: JudgeName | None = None,
    budget_usd: Usd | None = None,
    batch: bool = False,
    assignments: list[str] | None = None,
) -> State[None]:
    """Judge, score and rank every report of an edition that has not been yet.

    Args:
        edition: its name in the warehouse.
        protocols: those that are made for editions of its source, unless named.
        agents: all of the edition's unless named.
        judge: the default of `configs/judges.yaml` unless named.
        warehouse: a DuckDB file, waited for while another process owns it, or a lake's address.
        extractor: a judge that extracts the facts and claims nobody has published; the offline
            extraction unless named.
        budget_usd: what this run may spend on models at most; no cap unless given.
        batch: ask models through their batch APIs: cheaper, and within a day.
        assignments: judge only the reports of these; all unless named. What is left out counts as
            open, so the figures are provisional.

    Returns:
        `Completed`, or a completed state named `Partial` when something is left to do: items
        that failed or stayed open, or a budget, quota or model that stopped the run.
    """
    with await hold_warehouse(warehouse) as store:
        run = Evaluation(
            warehouse=store.url,
            edition=edition,
            protocols=protocols_for(store, edition, protocols or ()),
            agents=tuple(agents or ()),
            judge=judge or load_judges().default,
            extractor=extractor,
            batch=batch,
            assignments=tuple(assignments or ()),
        )
        began = utc_now()
        check_selection(store, run.edition, run.protocols, run.agents, run.judge)
        try:
            with tags(f"edition:{edition}", f"judge:{run.judge}"), spending(store, budget_usd):
                failures = await _stages(run)
                return await _closed(run, failures, began)
        finally:
            HELPERS.close()


async def _stages(run: Evaluation) -> list[Failure]:
    """Every stage that has something pending, in the order of the data. Processes that share a
    warehouse share the cells; the other stages, which take minutes, are done by one at a time."""
    store = get_open_warehouse(run.warehouse)
    failures: list[Failure] = []
    async with turn(store.turns, f"extraction of {run.edition}", remark):
        if todo := pending_extractions(run):
            failures += await claims_stage(run, len(todo))
        if texts := undiagnosed(store, run.edition, run.agents):
            failures += await diagnostics_stage(run, sum(map(len, texts.values())))
        if waiting := pending_points(run):
            failures += await key_points_stage(run, len(waiting))
    cells = chosen(run, planned_cells(run))
    if unjudged := pending(cells):
        remark(f"{len(unjudged)} of {len(cells)} cells are to be judged.")
        failures += await verdicts_stage(run, len(unjudged))
    failures += open_items(run)
    async with turn(store.turns, f"scoring of {run.edition}", remark):
        if groups := unscored_groups(store, planned_cells(run)):
            failures += await scores_stage(run, len(groups))
        if not is_current(store, run.edition, current_rows(run)):
            await leaderboard_stage(run)
        elif not is_exported(store, run.edition):  # a run ended between the two
            export_edition(store, run.edition)
    return failures


async def _closed(run: Evaluation, failures: list[Failure], began: datetime) -> State[None]:
    """Leave the leaderboard, the failures and the cost in the UI, and name how the run ended."""
    store = get_open_warehouse(run.warehouse)
    await leave_leaderboard(store, run.edition)
    await leave_failures(failures)
    await leave_costs(store, began, f"the judge {run.judge} calls no model")
    if not failures:
        return Completed(message=outcome(run, chosen(run, planned_cells(run))))
    return Completed(
        name="Partial",
        message=f"Not everything could be done; the rest is: {partial_message(failures)}",
    )
