"""One subflow per stage; each asks the warehouse what is pending and runs a task for it.

A stage is opened only when something is pending. One item that fails never stops the others;
a warehouse that cannot be written stops everything, because nothing could be kept.
"""

import asyncio
from contextlib import nullcontext
from functools import partial

from prefect import flow, tags

from flows.display.console import remark
from flows.runtime.fan_out import Failure, run_all, run_groups, run_items
from flows.runtime.progress import StageProgress, stage_progress
from flows.runtime.rate import FOREIGN_PER_SECOND, LOCAL_PER_SECOND, Pace
from flows.runtime.server import is_local
from flows.runtime.task_runs import error_of, finished, reason_of, result_of
from tasks.claims import extract_for
from tasks.diagnostics import diagnose_agent
from tasks.judging.cases import loading
from tasks.judging.cells import CellPlan
from tasks.judging.session import judge_session
from tasks.key_points import make_key_points
from tasks.leaderboard import publish_leaderboard
from tasks.models.errors import StopsTheStage
from tasks.pending.diagnostics import undiagnosed
from tasks.pending.evaluation import (
    Evaluation,
    chosen,
    current_rows,
    pending,
    pending_extractions,
    pending_points,
    planned_cells,
    unscored_groups,
)
from tasks.pending.extractions import Unextracted
from tasks.processes.pool import HELPERS
from tasks.scores import score_agent
from tasks.verdicts import cell_turn, judge_cell, write_failure
from tasks.warehouse.rows import OPEN_STATUSES
from tasks.warehouse.store import get_open_warehouse

CELLS_AT_ONCE = 64
"""Of a judge that waits for a model; how many calls are under way is for its limits to say."""
PREFETCH = 2
"""Cells in flight beyond the helper processes, so that no helper waits for its inputs."""


@flow(name="claims", flow_run_name="claims · {run.edition}", validate_parameters=False)
async def claims_stage(run: Evaluation, items: int) -> list[Failure]:
    """Facts and claims for every text that has none, an agent a task."""
    by_agent: dict[str, list[Unextracted]] = {}
    for item in pending_extractions(run):
        by_agent.setdefault(item.agent, []).append(item)
    store = get_open_warehouse(run.warehouse)
    extractor = (
        judge_session(store, run.extractor, batch=run.batch, on_message=remark)
        if run.extractor
        else None
    )
    async with extractor or nullcontext():
        return await run_groups(
            "claims",
            {agent or "(articles)": (agent, len(todo)) for agent, todo in by_agent.items()},
            lambda agent: extract_for(
                run.warehouse, agent, by_agent[agent], run.extractor, return_state=True
            ),
        )


@flow(name="diagnostics", flow_run_name="diagnostics · {run.edition}", validate_parameters=False)
async def diagnostics_stage(run: Evaluation, items: int) -> list[Failure]:
    """Style figures of every text that has none, an agent a task."""
    by_agent = undiagnosed(get_open_warehouse(run.warehouse), run.edition, run.agents)
    return await run_groups(
        "diagnostics",
        {agent or "(articles)": (agent, len(todo)) for agent, todo in by_agent.items()},
        lambda agent: diagnose_agent(run.warehouse, run.edition, agent, return_state=True),
    )


@flow(name="verdicts", flow_run_name="verdicts · {run.edition}", validate_parameters=False)
async def verdicts_stage(run: Evaluation, items: int) -> list[Failure]:
    """Judge every cell that is pending or failed before, a cell a task. In a warehouse of several
    processes those that another one is at are waited for at the end."""
    todo = pending(chosen(run, planned_cells(run)))
    pace = Pace(LOCAL_PER_SECOND if is_local() else FOREIGN_PER_SECOND)
    store = get_open_warehouse(run.warehouse)
    failures: list[Failure] = []
    stops: list[StopsTheStage] = []
    left: list[CellPlan] = []
    elsewhere: list[CellPlan] = []

    async def judged(plan: CellPlan) -> None:
        with tags(f"agent:{plan.agent}", f"protocol:{plan.protocol}"):
            state = await finished(partial(judge_cell, run.warehouse, plan, return_state=True))
        error = await error_of(state)
        if isinstance(error, StopsTheStage):
            stops.append(error)
            left.append(plan)
        elif error:
            await write_failure(store, plan, error)
            item = f"{plan.protocol} · {plan.agent} · {plan.title}"
            failures.append(Failure("verdicts", item, reason_of(error)))

    async def one(plan: CellPlan, progress: StageProgress, *, wait: bool = False) -> None:
        async with slots:
            await decider.room()  # before the turn: what waits for room is anybody's
            async with pace:
                pass
            if stops:
                left.append(plan)
                return
            async with cell_turn(store, plan, wait=wait) as standing:
                if standing == "taken":
                    elsewhere.append(plan)
                    return
                if standing == "ours":
                    await judged(plan)
        await progress.advance()

    async with judge_session(store, run.judge, batch=run.batch, on_message=remark) as decider:
        at_once = HELPERS.workers + PREFETCH if decider.judge.cpu_bound else CELLS_AT_ONCE
        # A batch takes hours whatever it holds: all the work there is room for goes into it.
        slots = asyncio.Semaphore(len(todo) if decider.batch else at_once)
        with loading(store, todo):
            async with stage_progress("verdicts", len(todo)) as progress:
                await run_all(one(plan, progress) for plan in todo)
                await run_all(one(plan, progress, wait=True) for plan in elsewhere)
    if stops:
        failures.append(Failure("verdicts", f"{len(left)} cells are left to judge", str(stops[0])))
    return failures


def open_items(run: Evaluation) -> list[Failure]:
    """What the judge gave no usable answer for, by kind; the next run asks again."""
    cells = [plan.cell_id for plan in chosen(run, planned_cells(run))]
    frame = get_open_warehouse(run.warehouse).frame(
        "SELECT protocol, status, count(*) AS n, min(reason) AS reason FROM verdicts "
        "WHERE cell_id IN (SELECT unnest($1)) AND status IN (SELECT unnest($2)) "
        "GROUP BY ALL ORDER BY ALL",
        [cells, [str(status) for status in OPEN_STATUSES]],
    )
    return [
        Failure("verdicts", f"{n} items of {protocol} are {status}", f"e.g. {reason}")
        for protocol, status, n, reason in frame.iter_rows()
    ]


@flow(name="scores", flow_run_name="scores · {run.edition}", validate_parameters=False)
async def scores_stage(run: Evaluation, items: int) -> list[Failure]:
    """Score every agent whose verdicts have changed, a protocol and agent a task."""
    store = get_open_warehouse(run.warehouse)
    groups = {
        f"{name} · {agent}": ((name, agent, plans), len(plans))
        for name, agent, plans in unscored_groups(store, planned_cells(run))
    }
    return await run_groups(
        "scores",
        groups,
        lambda group: score_agent(run.warehouse, *group, return_state=True),
    )


@flow(name="leaderboard", flow_run_name="leaderboard · {run.edition}", validate_parameters=False)
async def leaderboard_stage(run: Evaluation) -> str:
    """Aggregate the scores and export the snapshot; where it was written."""
    rows = current_rows(run)
    publish = partial(publish_leaderboard, run.warehouse, run.edition, rows, return_state=True)
    return str(await result_of(publish))


STAGE = "key points"
ARTICLES_AT_ONCE = 16
"""How many calls are under way is for the judge's limits to say."""


@flow(name=STAGE, flow_run_name="key points · {run.edition}", validate_parameters=False)
async def key_points_stage(run: Evaluation, items: int) -> list[Failure]:
    """Key points of every assignment that waits for them, an assignment a task."""
    todo = pending_points(run)
    store = get_open_warehouse(run.warehouse)
    async with judge_session(store, run.judge, batch=run.batch, on_message=remark) as decider:
        with tags("agent:(articles)"):
            return await run_items(
                STAGE,
                [(item.title, item) for item in todo],
                lambda _, item: make_key_points(run.warehouse, item, run.judge, return_state=True),
                at_once=len(todo) if decider.batch else ARTICLES_AT_ONCE,
                room=decider.room,
            )
