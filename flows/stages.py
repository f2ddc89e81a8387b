"""The stages of an evaluation, a subflow each, which runs a task for each pending item.

A failed item never stops the others; a warehouse that cannot be written stops everything, as no
result could be kept.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from functools import wraps
from typing import TypeVar

from aiolimiter import AsyncLimiter
from prefect import flow

from flows.display.console import print_message
from flows.runtime.server import is_local
from flows.runtime.task_runs import (
    Failure,
    Later,
    run_items,
    run_task_for_error,
    run_task_for_result,
)
from tasks.archive.earlier_keys import find_pages_again
from tasks.base import format_count
from tasks.claims import extract_statements
from tasks.costs.budget import get_budget
from tasks.diagnostics import diagnose_agent
from tasks.judging.cases import CaseLoader
from tasks.judging.cells import CellPlan
from tasks.judging.session import judge_session
from tasks.key_points import make_key_points
from tasks.leaderboard import write_leaderboard
from tasks.models.errors import StopStage
from tasks.pending.evaluation import Evaluation, PendingScores, select_extractions
from tasks.pending.extractions import PendingExtraction
from tasks.pending.key_points import PendingKeyPoints
from tasks.planning.permission import check_permitted, describe_extraction
from tasks.processes.pool import HELPERS
from tasks.scores import score_agent
from tasks.verdicts import judge_cell, lock_cell, write_failure
from tasks.warehouse.locks import hold_lock
from tasks.warehouse.results import LeaderboardRow
from tasks.warehouse.rows import OPEN_STATUSES

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
MAX_CONCURRENT_CELLS = 64
"""Cells at a time of a judge that calls a model; its limits set how many calls run at a time."""
MAX_CONCURRENT_ARTICLES = 16
"""The same for the articles that key points are made of."""
LOCAL_STARTS_PER_SECOND = 40.0
"""How many cells may start on our own server, which writes in batches and keeps up with 90/s. A
Prefect server queues at most 10,000 events and drops the rest, and a task run emits three."""
REMOTE_STARTS_PER_SECOND = 12.0
"""How many may start on a configured server, which may write each event separately."""
PREFETCH = 2
"""Cells at a time beyond the helper processes, so that no helper waits for its inputs."""
ARTICLES = "(articles)"
"""Stands for the agent where the texts are the articles."""

Work = Callable[[Evaluation, Sequence[ItemT]], Awaitable[ResultT]]


def stage_flow(name: str) -> Callable[[Work[ItemT, ResultT]], Work[ItemT, ResultT]]:
    """Make a function of an evaluation and its pending items a subflow of this name.

    Prefect stores a flow's parameters, so it gets the number of the items in their place.
    """

    def make(work: Work[ItemT, ResultT]) -> Work[ItemT, ResultT]:
        @wraps(work)
        async def start(run: Evaluation, todo: Sequence[ItemT]) -> ResultT:
            if (task := asyncio.current_task()) and task.cancelling():
                raise asyncio.CancelledError  # Prefect drops one that comes when a flow ends

            @flow(name=name, flow_run_name=f"{name} · {{run.edition}}", validate_parameters=False)
            async def stage(run: Evaluation, items: int) -> ResultT:
                return await work(run, todo)

            return await stage(run, len(todo))

        return start

    return make


async def extract_pending(run: Evaluation) -> list[Failure]:
    """Extract what is pending of an edition, in one process at a time, and find the pages again
    that reports cite by other keys now.

    Raises:
        Misconfigured: a model would be paid for it, and nobody has permitted that.
    """
    store = run.store
    async with hold_lock(store.locks, f"extraction of {run.edition}", print_message):
        failures = []
        if todo := select_extractions(run):
            usd = get_budget(store).usd
            check_permitted(await asyncio.to_thread(describe_extraction, run, usd))
            failures = await claims_stage(run, todo)
        await find_pages_again(store, run.edition)
        return failures


@stage_flow("claims")
async def claims_stage(run: Evaluation, todo: Sequence[PendingExtraction]) -> list[Failure]:
    """Extract facts and claims from texts that have none, a task per agent."""
    bought = any(not item.stays_offline for item in todo)
    judge_name = run.extracting_judge if bought else None
    by_agent: dict[str, list[PendingExtraction]] = {}
    for item in todo:
        by_agent.setdefault(item.agent, []).append(item)

    async def extract(items: list[PendingExtraction]) -> BaseException | None:
        agent = items[0].agent
        return await run_task_for_error(
            extract_statements, run.store, agent, items, judge_name, tagged=_tags(agent)
        )

    extractor = (
        judge_session(run.store, judge_name, batch=run.batch, on_message=print_message)
        if judge_name
        else nullcontext()
    )
    async with extractor:
        groups = [(agent or ARTICLES, items) for agent, items in by_agent.items()]
        return await run_items("claims", groups, extract, size=len)


@stage_flow("diagnostics")
async def diagnostics_stage(run: Evaluation, todo: Sequence[tuple[str, str]]) -> list[Failure]:
    """Compute the style figures of texts (agent, assignment) that have none, a task per agent."""
    by_agent = Counter(agent for agent, _ in todo)
    return await run_items(
        "diagnostics",
        [(agent or ARTICLES, agent) for agent in by_agent],
        lambda agent: run_task_for_error(
            diagnose_agent, run.store, run.edition, agent, tagged=_tags(agent)
        ),
        size=by_agent.__getitem__,
    )


@stage_flow("key points")
async def key_points_stage(run: Evaluation, todo: Sequence[PendingKeyPoints]) -> list[Failure]:
    """Make the key points of every assignment that needs them, a task per assignment."""
    async with judge_session(
        run.store, run.judge, batch=run.batch, on_message=print_message
    ) as decider:
        return await run_items(
            "key points",
            [(item.title, item) for item in todo],
            lambda item: run_task_for_error(
                make_key_points, run.store, item, run.judge, tagged=_tags("")
            ),
            concurrency=decider.limit_concurrency(MAX_CONCURRENT_ARTICLES),
            wait_for_capacity=decider.wait_for_capacity,
        )


@stage_flow("verdicts")
async def verdicts_stage(run: Evaluation, todo: Sequence[CellPlan]) -> list[Failure]:
    """Judge cells, a task per cell. Cells that another process is judging are waited for at the
    end."""
    per_second = LOCAL_STARTS_PER_SECOND if is_local() else REMOTE_STARTS_PER_SECOND
    starts = AsyncLimiter(max_rate=1, time_period=1 / per_second)
    elsewhere: set[str] = set()

    async def wait_for_start() -> None:
        await decider.wait_for_capacity()  # before the lock: any process may judge the cell
        await starts.acquire()

    async def judge(plan: CellPlan) -> BaseException | None:
        async with lock_cell(run.store, plan, wait=plan.cell_id in elsewhere) as ownership:
            if ownership == "taken":
                elsewhere.add(plan.cell_id)
                return Later()
            if ownership == "done":
                return None
            error = await run_task_for_error(
                judge_cell, run.store, plan, tagged=_tags(plan.agent, plan.protocol)
            )
            if error and not isinstance(error, StopStage):
                await write_failure(run.store, plan, error)
            return error

    async with judge_session(
        run.store, run.judge, batch=run.batch, with_fallback=True, on_message=print_message
    ) as decider:
        cpu_bound = decider.judge.cpu_bound
        most = HELPERS.workers + PREFETCH if cpu_bound else MAX_CONCURRENT_CELLS
        with run.store.context.hold(CaseLoader(run.store, todo)):
            return await run_items(
                "verdicts",
                [(f"{plan.protocol} · {plan.agent} · {plan.title}", plan) for plan in todo],
                judge,
                concurrency=decider.limit_concurrency(most),
                wait_for_capacity=wait_for_start,
            )


def list_open_items(run: Evaluation, cells: Sequence[CellPlan]) -> list[Failure]:
    """Count the open items of these cells by protocol and status; the next run asks about them
    again."""
    frame = run.store.frame(
        "SELECT protocol, status, count(*) AS n, min(reason) AS reason FROM verdicts "
        "WHERE cell_id IN (SELECT unnest($1)) AND status IN (SELECT unnest($2)) "
        "GROUP BY ALL ORDER BY ALL",
        [[plan.cell_id for plan in cells], [str(status) for status in OPEN_STATUSES]],
    )
    return [
        Failure("verdicts", f"{format_count(n, 'item')} of {protocol}: {status}", f"e.g. {reason}")
        for protocol, status, n, reason in frame.iter_rows()
    ]


@stage_flow("scores")
async def scores_stage(run: Evaluation, todo: Sequence[PendingScores]) -> list[Failure]:
    """Score agents whose verdicts have changed, a task per protocol and agent."""
    return await run_items(
        "scores",
        [(f"{group.protocol} · {group.agent}", group) for group in todo],
        lambda group: run_task_for_error(
            score_agent, run.store, *group, tagged=_tags(group.agent, group.protocol)
        ),
        size=lambda group: len(group.cells),
    )


@stage_flow("leaderboard")
async def leaderboard_stage(run: Evaluation, rows: Sequence[LeaderboardRow]) -> str:
    """Write the leaderboard and export the snapshot; return the snapshot's path."""
    return str(await run_task_for_result(write_leaderboard, run.store, run.edition, rows))


def _tags(agent: str, *protocols: str) -> list[str]:
    return [f"agent:{agent or ARTICLES}", *(f"protocol:{name}" for name in protocols)]
