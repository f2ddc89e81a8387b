"""Stage verdicts: one Prefect task per cell, whose verdicts are committed at once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

from prefect.tasks import exponential_backoff

from tasks.configuration.errors import ConfigurationError
from tasks.judging.cases import load_case
from tasks.judging.cells import CellPlan
from tasks.judging.session import get_judge_session
from tasks.processes.pool import CELL_SECONDS, HELPERS
from tasks.protocols.case import ItemAnswer
from tasks.protocols.cell import judge_case, judge_case_in_helper
from tasks.stage import is_transient, stage_task
from tasks.warehouse.locks import acquire_lock, wait_for_lock
from tasks.warehouse.results import Cell, Score, Verdict
from tasks.warehouse.rows import OPEN_STATUSES
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change


@stage_task(
    "{plan.protocol} · {plan.agent} · {plan.title}",
    retry_delay_seconds=exponential_backoff(1),
    retry_jitter_factor=1,  # a crashed helper fails all its cells at once
    retry_condition_fn=is_transient,
)
async def judge_cell(warehouse: Warehouse, plan: CellPlan) -> None:
    """Judge one cell and commit its verdicts to the warehouse."""
    decider = get_judge_session(warehouse, plan.judge).judge
    case = await asyncio.to_thread(load_case, warehouse, plan)
    if decider.cpu_bound:
        decided = await HELPERS.run(
            judge_case_in_helper,
            plan.protocol,
            plan.judge,
            case,
            plan.protocol_version,
            seconds=CELL_SECONDS,
            raises=(ConfigurationError,),
        )
    else:
        decided = await judge_case(plan.protocol, decider, case, plan.protocol_version)
    await write_cell(warehouse, plan, decided)


CellOwnership = Literal["ours", "taken", "done"]


@asynccontextmanager
async def lock_cell(
    warehouse: Warehouse, plan: CellPlan, *, wait: bool
) -> AsyncIterator[CellOwnership]:
    """Lock a cell while other processes may judge the same edition.

    Args:
        wait: wait for another process that holds the cell; otherwise such a cell is `taken`.

    Yields:
        `ours`: judge it here. `done`: another process has judged it since it was planned; the
        next run asks again for what that left open.
    """
    locks, key = warehouse.locks, f"cell {plan.cell_id}"
    if not locks.shared:
        yield "ours"
        return
    if wait:
        await wait_for_lock(locks, key)
    elif not await acquire_lock(locks, key):
        yield "taken"
        return
    try:
        yield await asyncio.to_thread(_check_ownership, warehouse, plan, waited=wait)
    finally:
        locks.release(key)


def _check_ownership(warehouse: Warehouse, plan: CellPlan, *, waited: bool) -> CellOwnership:
    found = warehouse.frame("SELECT status, n_open FROM cells WHERE cell_id = $1", [plan.cell_id])
    if found.is_empty():
        return "ours"
    status, n_open = found.row(0)
    was_there = plan.state == "failed" or plan.state_reason is not None or plan.n_refused > 0
    judged = status == "done" and not n_open and not plan.n_refused
    return "done" if judged or waited or not was_there else "ours"


async def write_cell(warehouse: Warehouse, plan: CellPlan, decided: list[ItemAnswer]) -> None:
    """Commit a cell with its verdicts and delete the scores of its earlier state."""
    of_plan = plan.model_dump(include={*Verdict.model_fields})
    verdicts = [_build_verdict(of_plan, item) for item in decided]
    n_open = sum(verdict.status in OPEN_STATUSES for verdict in verdicts)
    of_cell = {"cell_id": plan.cell_id}
    await warehouse.write_async(
        Change(Verdict, verdicts, replacing=of_cell),
        Change(
            Cell, [_build_cell(plan, n_verdicts=len(verdicts), n_open=n_open)], replacing=of_cell
        ),
        Change(Score, [], replacing=of_cell),
    )


async def write_failure(warehouse: Warehouse, plan: CellPlan, error: BaseException) -> None:
    """Record that a cell could not be judged; the next run tries again."""
    message = f"{type(error).__name__}: {error}"[:2000]
    await warehouse.write_async(
        Change(Cell, [_build_cell(plan, error=message)], replacing={"cell_id": plan.cell_id})
    )


def _build_cell(
    plan: CellPlan, *, n_verdicts: int = 0, n_open: int = 0, error: str | None = None
) -> Cell:
    """Build the cell's row from the fields that it shares with its plan, and its outcome."""
    return Cell(
        **plan.model_dump(include={*Cell.model_fields}),
        status="failed" if error else "done",
        error=error,
        n_verdicts=n_verdicts,
        n_open=n_open,
    )


def _build_verdict(of_plan: dict[str, Any], decided: ItemAnswer) -> Verdict:
    """Build a verdict from the fields that it shares with its cell's plan and with the answer."""
    answered = decided.answer.model_dump()
    version = answered["model_version"] or of_plan["model_version"]
    fields = of_plan | answered | {"model_version": version}
    return Verdict(**fields, step=decided.step, item=decided.item)
