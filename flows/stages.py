"""Turns stages into Prefect's flows and tasks: a task for each part, and a subflow for each stage
of an evaluation. Nothing else does.

A failed part never stops the others; a warehouse that cannot be written stops everything, as no
result could be kept.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from aiolimiter import AsyncLimiter
from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.tasks import Task, exponential_backoff
from prefect.utilities.annotations import quote

from flows.display.console import print_message
from flows.runtime.server import is_local
from flows.runtime.task_runs import Failure, Later, run_items, run_task, run_task_for_error
from tasks.archive.pending import find_pages_again
from tasks.claims import CLAIMS
from tasks.models.errors import StopStage
from tasks.planning.permission import check_permitted, describe_extraction
from tasks.run import RunContext
from tasks.stage import OnProgress, Stage, Worker
from tasks.warehouse.locks import hold_lock

ItemT = TypeVar("ItemT")
PartT = TypeVar("PartT")
ResultT = TypeVar("ResultT")
LOCAL_STARTS_PER_SECOND = 40.0
"""How many parts may start on our own server, which writes in batches and keeps up with 90/s. A
Prefect server queues at most 10,000 events and drops the rest, and a task run emits three."""
REMOTE_STARTS_PER_SECOND = 12.0
"""How many may start on a configured server, which may write each event separately."""
RETRIES = 2


async def run_stage(
    run: RunContext, stage: Stage[ItemT, PartT], todo: Sequence[ItemT] | None = None
) -> list[Failure]:
    """Do what is pending of a stage, or `todo`, in tasks of the current flow; return what could not
    be done. Parts that another process does are waited for at the end."""
    pending = run.plan.find_pending(stage) if todo is None else todo
    if not pending:
        return []
    per_second = LOCAL_STARTS_PER_SECOND if is_local() else REMOTE_STARTS_PER_SECOND
    starts = AsyncLimiter(max_rate=1, time_period=1 / per_second)
    do_part = _make_task(stage)
    elsewhere: set[int] = set()  # by identity: cells of one article have one title
    edition = run.plan.selection.edition

    async def wait_for_start() -> None:
        if worker.wait_for_capacity:
            await worker.wait_for_capacity()
        await starts.acquire()

    async def do(part: PartT, on_progress: OnProgress) -> BaseException | None:
        title = stage.title(part)
        async with worker.hold(part, wait=id(part) in elsewhere) as ownership:
            if ownership == "taken":
                elsewhere.add(id(part))
                return Later()
            if ownership == "done":
                return None
            error = await run_task_for_error(
                do_part, worker, quote(part), title, edition, on_progress, tagged=stage.tags(part)
            )
            if error and stage.fails_run:
                raise error
            if error and worker.record_failure and not isinstance(error, StopStage):
                await worker.record_failure(part, error)
            return error

    async with stage.open(run, pending) as worker:
        return await run_items(
            stage.name,
            [(stage.title(part), part) for part in stage.split(pending)],
            do,
            concurrency=worker.concurrency,
            size=stage.size,
            group=worker.group,
            wait_for_capacity=wait_for_start,
            counts=not stage.counts_itself,
        )


async def run_stage_flow(run: RunContext, stage: Stage[Any, Any]) -> list[Failure]:
    """Do what is pending of a stage in a subflow of its own; without anything pending, do nothing.

    Prefect stores a flow's parameters, so it gets the edition and the number of the items.
    """
    pending = run.plan.find_pending(stage)
    if not pending:
        return []
    if (current := asyncio.current_task()) and current.cancelling():
        raise asyncio.CancelledError  # Prefect drops one that comes when a flow ends

    @flow(name=stage.name, flow_run_name=f"{stage.name} · {{edition}}", validate_parameters=False)
    async def part_of_run(edition: str, items: int) -> list[Failure]:
        return await run_stage(run, stage)

    return await part_of_run(run.plan.selection.edition, len(pending))


def _make_task(stage: Stage[Any, PartT]) -> Task[..., Any]:
    """Make the task of a stage's parts. Its state is in the warehouse, so Prefect neither keeps nor
    caches results."""

    async def is_worth_another_try(_: Task[..., object], __: TaskRun, state: State[object]) -> bool:
        error = await state.aresult(raise_on_failure=False)
        return isinstance(error, stage.retry_on)

    async def do_part(
        worker: Worker[PartT], part: PartT, title: str, edition: str, on_progress: OnProgress
    ) -> None:
        await worker.do(part, on_progress)

    return task(
        name=stage.task,
        task_run_name=stage.run_name,
        retries=RETRIES if stage.retry_on else 0,
        retry_delay_seconds=exponential_backoff(1),
        retry_jitter_factor=1,  # a crashed helper fails all its parts at once
        retry_condition_fn=is_worth_another_try,
        cache_policy=NO_CACHE,
        persist_result=False,
    )(do_part)


async def run_function(name: str, function: Callable[..., Awaitable[ResultT]]) -> ResultT:
    """Call a function in a task of this name; return its result or raise its error."""

    async def call() -> ResultT:
        return await function()

    made = task(name=name, cache_policy=NO_CACHE, persist_result=False)(call)
    result: ResultT = await (await run_task(made)).aresult()
    return result


async def extract_pending(run: RunContext) -> list[Failure]:
    """Extract what is pending of an edition, in one process at a time, and find the pages again
    that reports cite by other keys now.

    Raises:
        Misconfigured: a model would be paid for it, and nobody has permitted that.
    """
    edition, failures = run.plan.selection.edition, []
    async with hold_lock(run.store.locks, f"extraction of {edition}", print_message):
        run.renew_if_shared()
        if run.plan.find_pending(CLAIMS):
            check_permitted(await asyncio.to_thread(describe_extraction, run.plan, run.budget.usd))
            failures = await run_stage_flow(run, CLAIMS)
            run.plan = run.plan.renew()
        if await find_pages_again(run.store, edition):
            run.plan = run.plan.renew()
        return failures
