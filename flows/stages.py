"""The stages of an evaluation, a subflow each: it finds what is pending and runs a task for it.

A stage starts only if something is pending. A failed item never stops the others; a warehouse
that cannot be written stops everything, as no result could be kept.
"""

import asyncio
from contextlib import nullcontext
from functools import partial

from aiolimiter import AsyncLimiter
from prefect import flow, tags

from flows.display.console import print_message
from flows.runtime.fan_out import Failure, run_all, run_groups, run_items
from flows.runtime.progress import StageProgress, stage_progress
from flows.runtime.server import is_local
from flows.runtime.task_runs import format_error, get_task_error, run_task, run_task_for_result
from tasks.claims import extract_statements
from tasks.diagnostics import diagnose_agent
from tasks.judging.cases import CaseLoader
from tasks.judging.cells import CellPlan
from tasks.judging.session import judge_session
from tasks.key_points import make_key_points
from tasks.leaderboard import write_leaderboard
from tasks.models.errors import StopStage
from tasks.pending.diagnostics import find_pending_diagnostics
from tasks.pending.evaluation import (
    Evaluation,
    compute_current_rows,
    find_pending_cells,
    find_pending_scores,
    plan_run_cells,
    select_cells,
    select_extractions,
    select_key_points,
)
from tasks.pending.extractions import PendingExtraction
from tasks.processes.pool import HELPERS
from tasks.scores import score_agent
from tasks.verdicts import judge_cell, lock_cell, write_failure
from tasks.warehouse.rows import OPEN_STATUSES
from tasks.warehouse.store import get_open_warehouse

MAX_CONCURRENT_CELLS = 64
"""Cells at a time of a judge that calls a model; its limits set how many calls run at a time."""
LOCAL_STARTS_PER_SECOND = 40.0
"""How many cells may start on our own server, which writes in batches and keeps up with 90/s. A
Prefect server queues at most 10,000 events and drops the rest, and a task run emits three."""
REMOTE_STARTS_PER_SECOND = 12.0
"""How many may start on a configured server, which may write each event separately."""
PREFETCH = 2
"""Cells at a time beyond the helper processes, so that no helper waits for its inputs."""


@flow(name="claims", flow_run_name="claims · {run.edition}", validate_parameters=False)
async def claims_stage(run: Evaluation, items: int) -> list[Failure]:
    """Extract facts and claims from every text that has none, a task per agent."""
    by_agent: dict[str, list[PendingExtraction]] = {}
    for item in select_extractions(run):
        by_agent.setdefault(item.agent, []).append(item)
    store = get_open_warehouse(run.warehouse)
    extractor = (
        judge_session(store, run.extractor, batch=run.batch, on_message=print_message)
        if run.extractor
        else None
    )
    async with extractor or nullcontext():
        return await run_groups(
            "claims",
            {agent or "(articles)": (agent, len(todo)) for agent, todo in by_agent.items()},
            lambda agent: extract_statements(
                run.warehouse, agent, by_agent[agent], run.extractor, return_state=True
            ),
        )


@flow(name="diagnostics", flow_run_name="diagnostics · {run.edition}", validate_parameters=False)
async def diagnostics_stage(run: Evaluation, items: int) -> list[Failure]:
    """Compute the style figures of every text that has none, a task per agent."""
    by_agent = find_pending_diagnostics(get_open_warehouse(run.warehouse), run.edition, run.agents)
    return await run_groups(
        "diagnostics",
        {agent or "(articles)": (agent, len(todo)) for agent, todo in by_agent.items()},
        lambda agent: diagnose_agent(run.warehouse, run.edition, agent, return_state=True),
    )


@flow(name="verdicts", flow_run_name="verdicts · {run.edition}", validate_parameters=False)
async def verdicts_stage(run: Evaluation, items: int) -> list[Failure]:
    """Judge every cell that is pending or failed before, a task per cell. Cells that another
    process is judging are waited for at the end."""
    todo = find_pending_cells(select_cells(run, plan_run_cells(run)))
    per_second = LOCAL_STARTS_PER_SECOND if is_local() else REMOTE_STARTS_PER_SECOND
    starts = AsyncLimiter(max_rate=1, time_period=1 / per_second)
    store = get_open_warehouse(run.warehouse)
    failures: list[Failure] = []
    stops: list[StopStage] = []
    left: list[CellPlan] = []
    elsewhere: list[CellPlan] = []

    async def judge(plan: CellPlan) -> None:
        with tags(f"agent:{plan.agent}", f"protocol:{plan.protocol}"):
            state = await run_task(partial(judge_cell, run.warehouse, plan, return_state=True))
        error = await get_task_error(state)
        if isinstance(error, StopStage):
            stops.append(error)
            left.append(plan)
        elif error:
            await write_failure(store, plan, error)
            item = f"{plan.protocol} · {plan.agent} · {plan.title}"
            failures.append(Failure("verdicts", item, format_error(error)))

    async def one(plan: CellPlan, progress: StageProgress, *, wait: bool = False) -> None:
        async with slots:
            await decider.wait_for_capacity()  # before the lock: any process may judge the cell
            await starts.acquire()
            if stops:
                left.append(plan)
                return
            async with lock_cell(store, plan, wait=wait) as ownership:
                if ownership == "taken":
                    elsewhere.append(plan)
                    return
                if ownership == "ours":
                    await judge(plan)
        await progress.advance()

    async with judge_session(
        store, run.judge, batch=run.batch, on_message=print_message
    ) as decider:
        concurrency = (
            HELPERS.workers + PREFETCH if decider.judge.cpu_bound else MAX_CONCURRENT_CELLS
        )
        # A batch takes hours whatever its size, so it gets all cells.
        slots = asyncio.Semaphore(len(todo) if decider.batch else concurrency)
        with store.context.hold(CaseLoader(store, todo)):
            async with stage_progress("verdicts", len(todo)) as progress:
                await run_all(one(plan, progress) for plan in todo)
                await run_all(one(plan, progress, wait=True) for plan in elsewhere)
    if stops:
        failures.append(Failure("verdicts", f"{len(left)} cells are still pending", str(stops[0])))
    return failures


def list_open_items(run: Evaluation) -> list[Failure]:
    """Count the open items by protocol and status; the next run asks about them again."""
    cells = [plan.cell_id for plan in select_cells(run, plan_run_cells(run))]
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
    """Score every agent whose verdicts have changed, a task per protocol and agent."""
    store = get_open_warehouse(run.warehouse)
    groups = {
        f"{name} · {agent}": ((name, agent, plans), len(plans))
        for name, agent, plans in find_pending_scores(store, plan_run_cells(run))
    }
    return await run_groups(
        "scores",
        groups,
        lambda group: score_agent(run.warehouse, *group, return_state=True),
    )


@flow(name="leaderboard", flow_run_name="leaderboard · {run.edition}", validate_parameters=False)
async def leaderboard_stage(run: Evaluation) -> str:
    """Aggregate the scores and export the snapshot; return the snapshot's path."""
    rows = compute_current_rows(run)
    publish = partial(write_leaderboard, run.warehouse, run.edition, rows, return_state=True)
    return str(await run_task_for_result(publish))


KEY_POINTS_STAGE = "key points"
MAX_CONCURRENT_ARTICLES = 16
"""Articles at a time; the judge's limits set how many calls run at a time."""


@flow(name=KEY_POINTS_STAGE, flow_run_name="key points · {run.edition}", validate_parameters=False)
async def key_points_stage(run: Evaluation, items: int) -> list[Failure]:
    """Make the key points of every assignment that needs them, a task per assignment."""
    todo = select_key_points(run)
    store = get_open_warehouse(run.warehouse)
    async with judge_session(
        store, run.judge, batch=run.batch, on_message=print_message
    ) as decider:
        with tags("agent:(articles)"):
            return await run_items(
                KEY_POINTS_STAGE,
                [(item.title, item) for item in todo],
                lambda _, item: make_key_points(run.warehouse, item, run.judge, return_state=True),
                concurrency=len(todo) if decider.batch else MAX_CONCURRENT_ARTICLES,
                wait_for_capacity=decider.wait_for_capacity,
            )
