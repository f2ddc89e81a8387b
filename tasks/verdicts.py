"""Stage verdicts: judge cells; the verdicts of each are committed at once."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from tasks.base import format_count
from tasks.configuration.errors import ConfigurationError
from tasks.judges.registry import load_judge
from tasks.judging.cases import CaseLoader
from tasks.judging.cells import CellPlan, plan_cells
from tasks.judging.session import JudgeSession, judge_session
from tasks.models.errors import may_pass
from tasks.outcome import Failure, PartLeft
from tasks.processes.pool import CELL_SECONDS
from tasks.protocols.case import ItemAnswer
from tasks.protocols.cell import judge_case, judge_case_in_helper
from tasks.protocols.registry import get_protocol
from tasks.run import Plan, RunContext
from tasks.stage import OnProgress, Output, Ownership, Stage, StageCounts, Worker
from tasks.warehouse.locks import acquire_lock, wait_for_lock
from tasks.warehouse.results import Cell, Score, Verdict
from tasks.warehouse.rows import OPEN_STATUSES, utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change

CALLS = """
SELECT coalesce(sum(cost_usd), 0), coalesce(sum(tries), 0)::BIGINT
FROM calls WHERE call_id IN (SELECT unnest($1)) AND called_at >= $2
"""
MAX_CONCURRENT_CELLS = 64
"""Cells at a time of a judge that calls a model; its limits set how many calls run at a time."""
OPEN = sorted(str(status) for status in OPEN_STATUSES)
PREFETCH = 2
"""Cells at a time beyond the helper processes, so that no helper waits for its inputs."""


def list_protocols(plan: Plan) -> list[str]:
    """Return the selected protocols that judge assignments of the edition's kinds."""
    asked = "SELECT DISTINCT kind FROM assignments WHERE edition = $1"
    kinds = {*plan.store.frame(asked, [plan.selection.edition])["kind"]}
    return [name for name in plan.selection.protocols if kinds & {*get_protocol(name).kinds}]


def list_cells(plan: Plan) -> list[CellPlan]:
    """Plan every cell of the selected protocols and agents. It is the longest question that a plan
    asks: seconds for 10,000 cells."""
    of, judge = plan.selection, load_judge(plan.selection.judge)
    return [
        cell
        for name in plan.ask(list_protocols)
        for cell in plan_cells(plan.store, of.edition, get_protocol(name), judge, of.agents)
    ]


def select_cells(plan: Plan) -> list[CellPlan]:
    """Return the cells that belong to the selected assignments."""
    return [cell for cell in plan.ask(list_cells) if plan.selection.includes(cell.assignment)]


def find_pending_cells(plan: Plan) -> list[CellPlan]:
    """Return the selected cells that are to be judged, those of an assignment together: its reports
    are compared with the same texts, and cite the same pages."""
    pending = (cell for cell in plan.ask(select_cells) if cell.is_pending)
    return sorted(pending, key=lambda cell: cell.assignment)


def describe_judged(plan: Plan) -> str:
    """Describe what was judged, or why nothing could be."""
    of = plan.selection
    states, names = {cell.state for cell in plan.ask(select_cells)}, ", ".join(of.protocols)
    if not states:
        return f"{of.edition} has no reports that {names} could judge: nothing was judged."
    if states == {"not_assessed"}:
        return (
            f"{of.edition}: the judge {of.judge} cannot decide {names}: nothing was judged. "
            "Name one that calls a model with --judge."
        )
    return f"{of.edition} is evaluated."


class CellJudge:
    """Judges cells with an open judge."""

    def __init__(self, run: RunContext, session: JudgeSession, todo: Sequence[CellPlan]) -> None:
        self._store = run.store
        self._helpers = run.helpers
        self._judge = session.judge
        self._cases = CaseLoader(run.store, todo)

    async def judge(self, plan: CellPlan, on_progress: OnProgress) -> str:
        """Judge one cell and commit its verdicts to the warehouse; return a line about them.

        Raises:
            PartLeft: the judge gave no usable answer about some items; all is committed.
            UnreadableScan: one of its files is missing or damaged.
        """
        began = utc_now()
        case = await asyncio.to_thread(self._cases.load, plan)
        if self._judge.cpu_bound:
            decided = await self._helpers.run(
                judge_case_in_helper,
                plan.protocol,
                plan.judge,
                case,
                plan.protocol_version,
                seconds=CELL_SECONDS,
                raises=(ConfigurationError,),
            )
        else:
            decided = await judge_case(plan.protocol, self._judge, case, plan.protocol_version)
        await write_cell(self._store, plan, decided)
        said = await asyncio.to_thread(self._describe, decided, began)
        left = [each.answer for each in decided if each.answer.status in OPEN_STATUSES]
        if left:
            raise PartLeft(
                f"{said}, {len(left)} of them open: {left[0].reason}",
                may_pass=any(may_pass(answer.reason) for answer in left),
            )
        return said

    def _describe(self, decided: Sequence[ItemAnswer], began: datetime) -> str:
        """Say how many verdicts there are, and what the calls for them cost since then."""
        said = format_count(len(decided), "verdict")
        if self._judge.cpu_bound:
            return said
        calls = [*{each.answer.call_id for each in decided} - {None}]
        usd, tries = self._store.frame(CALLS, [calls, began]).row(0)
        return f"{said}, ${usd:,.4f}, {format_count(tries, 'request')}"


@asynccontextmanager
async def lock_cell(
    warehouse: Warehouse, plan: CellPlan, *, wait: bool
) -> AsyncIterator[Ownership]:
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


def _check_ownership(warehouse: Warehouse, plan: CellPlan, *, waited: bool) -> Ownership:
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


def list_open_items(plan: Plan) -> Iterator[Failure]:
    """Count the open items of the selected cells by protocol and status; the next run asks about
    them again."""
    frame = plan.store.frame(
        "SELECT protocol, status, count(*) AS n, min(reason) AS reason FROM verdicts "
        "WHERE cell_id IN (SELECT unnest($1)) AND status IN (SELECT unnest($2)) "
        "GROUP BY ALL ORDER BY ALL",
        [[cell.cell_id for cell in plan.ask(select_cells)], OPEN],
    )
    for protocol, status, n, reason in frame.iter_rows():
        yield Failure(
            "verdicts", f"{format_count(n, 'item')} of {protocol}: {status}", f"e.g. {reason}"
        )


@asynccontextmanager
async def _open(run: RunContext, todo: Sequence[CellPlan]) -> AsyncIterator[Worker[CellPlan]]:
    async with judge_session(run, run.plan.selection.judge, with_fallback=True) as session:
        cpu_bound = session.judge.cpu_bound
        most = run.helpers.workers + PREFETCH if cpu_bound else MAX_CONCURRENT_CELLS
        yield Worker(
            CellJudge(run, session, todo).judge,
            concurrency=session.limit_concurrency(most),
            # Before the lock: any process may judge the cell.
            wait_for_capacity=session.wait_for_capacity,
            hold=lambda cell, *, wait: lock_cell(run.store, cell, wait=wait),
            count_answers=lambda cell: session.count_answers(),
            record_failure=lambda cell, error: write_failure(run.store, cell, error),
        )


def _count(plan: Plan) -> Iterator[StageCounts]:
    for name in plan.ask(list_protocols):
        states = Counter(cell.state for cell in plan.ask(list_cells) if cell.protocol == name)
        yield StageCounts(
            edition=plan.selection.edition,
            stage=f"verdicts {name}",
            done=states["done"],
            pending=states["pending"],
            failed=states["failed"],
            final=states["empty"] + states["not_assessed"],
        )


VERDICTS = Stage(
    name="verdicts",
    task="judge_cell",
    find_pending=find_pending_cells,
    open=_open,
    title=lambda cell: f"{cell.protocol} / {cell.agent} / {cell.title}",
    item="cell",
    inputs=("claims", "facts", "pages", "key_points"),
    outputs=(
        Output("cell", Cell, "status = 'done' AND n_open = 0"),
        Output("verdict", Verdict, f"status NOT IN ({', '.join(map(repr, map(str, OPEN)))})"),
    ),
    list_open=list_open_items,
    count=_count,
)
