"""Turns stages into Prefect's tasks: one for each stage, and in it one for each part. Nothing else
does.

A failed part never stops the others; a warehouse that cannot be written stops everything, as no
result could be kept. What may pass is tried again, on top of the clients' own tries: a part twice,
and once a stage whose endpoint or network was down.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from aiolimiter import AsyncLimiter
from prefect import get_run_logger, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.tasks import exponential_backoff
from prefect.transactions import CommitMode, atransaction
from prefect.utilities.annotations import quote
from text_unidecode import unidecode

from flows.display.console import print_message
from flows.lineage import emit_asset_events
from flows.runtime.announcing import announce
from flows.runtime.artifacts import add_stage_costs_artifact
from flows.runtime.outcomes import read_outcome, to_state
from flows.runtime.server import is_local
from flows.runtime.task_runs import Items, Later, run_items, run_part, run_task
from tasks.archive.pending import find_pages_again
from tasks.base import format_count
from tasks.claims import CLAIMS
from tasks.models.errors import BudgetExhausted, StopStage, Unreachable
from tasks.outcome import Kind, Outcome, PartLeft, PartOpen, join_outcomes
from tasks.planning.permission import check_permitted, describe_extraction
from tasks.run import RunContext, StageRecord
from tasks.stage import OnProgress, Stage, Worker, describe_kept
from tasks.warehouse.errors import WarehouseError
from tasks.warehouse.locks import hold_lock
from tasks.warehouse.rows import utc_now
from tasks.web.errors import FetchingStopped, NoNetwork
from tasks.wikipedia.errors import WikiUnreachable

ItemT = TypeVar("ItemT")
PartT = TypeVar("PartT")
ResultT = TypeVar("ResultT")
LOCAL_STARTS_PER_SECOND = 40.0
"""How many parts may start on our own server, which writes in batches and keeps up with 90/s. A
Prefect server queues at most 10,000 events and drops the rest, and a task run emits three."""
REMOTE_STARTS_PER_SECOND = 12.0
"""How many may start on a configured server, which may write each event separately."""
PART_RETRIES = 2
PART_RETRY_SECONDS = 2.0
"""The wait before a part's first retry; the next one is twice as long. Jitter spreads them, since a
crashed helper fails all its parts at once."""
STAGE_RETRY_SECONDS = 20.0
"""The wait before a stage is tried again whose endpoint was down."""
DOWN = (Unreachable, NoNetwork, WikiUnreachable)
"""Errors of an endpoint, or a network, that answers nobody: it may be up again soon."""
FINAL = (StopStage, FetchingStopped, WarehouseError)
"""Errors after which the same part, tried again at once, would only fail again."""


async def run_stage(
    run: RunContext,
    stage: Stage[ItemT, PartT],
    only: Callable[[ItemT], bool] = lambda item: True,
) -> Outcome:
    """Do what is pending of a stage in a task of the current flow; return what became of it.

    Without anything pending the task says what the warehouse has.

    only: whether a pending item is to be done.
    """
    if (current := asyncio.current_task()) and current.cancelling():
        raise asyncio.CancelledError  # Prefect drops one that comes when a flow ends
    tries: list[Outcome] = []
    is_down, begun = False, list[ItemT]()

    async def do_stage() -> State[None]:
        nonlocal is_down, begun
        if tries:
            run.plan = run.plan.renew()
        pending = [item for item in run.plan.find_pending(stage) if only(item)]
        if tries and stage.key:
            known = {stage.key(item) for item in begun}
            pending = [item for item in pending if stage.key(item) in known]
        begun = pending
        outcome, is_down = await _do_pending(run, stage, pending)
        tries.append(outcome)
        return to_state(outcome)

    async def is_worth_another_try(*_: object) -> bool:
        if is_down and len(tries) == 1:
            print_message(f"{stage.name}: {tries[0].message}\nIt is tried once more.", "yellow")
        return is_down

    shown = f"{stage.name} / {run.plan.selection.edition}"
    made = _make_task(stage.name, shown, 1, STAGE_RETRY_SECONDS, is_worth_another_try)
    (await read_outcome(await run_task(made(do_stage)))).require()
    return tries[-1]


async def _do_pending(
    run: RunContext, stage: Stage[Any, PartT], pending: Sequence[Any]
) -> tuple[Outcome, bool]:
    """Do these items of a stage; return what became of it, and whether its endpoint was down."""
    counts = [output.count(run.plan) for output in stage.outputs]
    kept = describe_kept(stage, counts)
    if not pending:
        run.records.append(StageRecord(stage.name, "cached"))
        return Outcome("cached", kept), False
    began, spent = utc_now(), run.budget.spent
    found = await _keep_parts(_run_parts(run, stage, pending))
    failures = found.failures
    is_down = any(isinstance(f.cause, DOWN) or getattr(f.cause, "is_down", False) for f in failures)
    if any(isinstance(f.cause, BudgetExhausted) for f in failures):
        announce("over_budget", run.plan.selection.edition)
    if stage.list_open:
        failures = [f for f in failures if not isinstance(f.cause, PartLeft)]
        failures += stage.list_open(run.plan)
    done = f"{found.n - found.left:,} of {format_count(found.n, stage.item)} done"
    kind: Kind = "open" if found.is_open else "done"
    outcome = join_outcomes(f"{done}; {kept}.", [Outcome(kind, "")], failures)
    new = [output.count(run.plan) - n for output, n in zip(stage.outputs, counts, strict=True)]
    usd = 0.0 if stage.is_free else run.budget.spent - spent
    record = StageRecord(stage.name, outcome.kind, new, usd)
    run.records.append(record)
    emit_asset_events(run, stage, record)
    if not stage.is_free:
        await add_stage_costs_artifact(run.store, began, stage.name)
    paid = f", ${usd:,.4f} spent" if usd else ""
    get_run_logger().info("%s%s: %s", stage.name, paid, outcome.message)
    return outcome, is_down


async def _keep_parts(running: Awaitable[Items]) -> Items:
    """Run parts in a transaction of their own: Prefect rolls back the tasks in a task that fails,
    and shows those that are done as `RolledBack`."""
    error: BaseException
    async with atransaction(commit_mode=CommitMode.EAGER):
        try:
            return await running
        except BaseException as raised:
            error = raised
    raise error


async def _run_parts(run: RunContext, stage: Stage[Any, PartT], pending: Sequence[Any]) -> Items:
    """Run the parts of what is pending, each in a task. Those that another process does are waited
    for at the end."""
    per_second = LOCAL_STARTS_PER_SECOND if is_local() else REMOTE_STARTS_PER_SECOND
    starts = AsyncLimiter(max_rate=1, time_period=1 / per_second)
    do_part = _make_part_task(stage)
    elsewhere: set[int] = set()  # by identity: cells of one article have one title

    async def wait_for_start() -> None:
        if worker.wait_for_capacity:
            await worker.wait_for_capacity()
        await starts.acquire()

    async def do(part: PartT, on_progress: OnProgress) -> BaseException | None:
        async with worker.hold(part, wait=id(part) in elsewhere) as ownership:
            if ownership == "taken":
                elsewhere.add(id(part))
                return Later()
            if ownership == "done":
                return None
            title = unidecode(stage.title(part))
            error = await run_part(do_part, worker, quote(part), title, on_progress)
            if error and stage.fails_run:
                raise error
            if error and worker.record_failure and not isinstance(error, (StopStage, PartLeft)):
                await worker.record_failure(part, error)
            return error

    async with stage.open(run, pending) as worker:
        return await run_items(
            stage.name,
            [(stage.title(part), part) for part in stage.split(pending)],
            do,
            noun=stage.item,
            concurrency=worker.concurrency,
            size=stage.size,
            group=worker.group,
            wait_for_capacity=wait_for_start,
            counts=not stage.counts_itself,
        )


def _make_part_task(stage: Stage[Any, PartT]) -> Callable[..., Any]:
    async def may_pass(_: object, __: TaskRun, state: State[object]) -> bool:
        error = (await read_outcome(state)).error
        if isinstance(error, PartLeft):
            return error.may_pass and not error.is_down
        return isinstance(error, stage.retry_on) and not isinstance(error, FINAL)

    async def do_part(
        worker: Worker[PartT], part: PartT, title: str, on_progress: OnProgress
    ) -> State[None]:
        answered = worker.count_answers and worker.count_answers(part)
        try:
            said = await worker.do(part, on_progress)
        except PartLeft as left:
            if worker.count_answers and left.may_pass:
                left.is_down = worker.count_answers(part) == answered
            get_run_logger().warning("%s / %s: %s", stage.name, title, left)
            kind: Kind = "open" if isinstance(left, PartOpen) else "partial"
            return to_state(Outcome(kind, str(left), error=left))
        get_run_logger().info("%s / %s: %s", stage.name, title, said or "done")
        return to_state(Outcome("done", said or ""))

    made = _make_task(stage.task, "{title}", PART_RETRIES, PART_RETRY_SECONDS, may_pass)
    made_task: Callable[..., Any] = made(do_part)
    return made_task


def _make_task(
    name: str, run_name: str, retries: int, seconds: float, condition: Callable[..., Any]
) -> Callable[..., Any]:
    """Return what makes a task of a function. Its state is in the warehouse, so Prefect neither
    keeps nor caches results."""
    made: Callable[..., Any] = task(
        name=name,
        task_run_name=run_name,
        retries=retries,
        retry_delay_seconds=exponential_backoff(seconds),
        retry_jitter_factor=1,
        retry_condition_fn=condition,
        cache_policy=NO_CACHE,
        persist_result=False,
    )
    return made


async def run_function(name: str, function: Callable[..., Awaitable[ResultT]]) -> ResultT:
    """Call a function in a task of this name; return its result or raise its error."""

    async def call() -> ResultT:
        return await function()

    made = task(name=name, task_run_name=name, cache_policy=NO_CACHE, persist_result=False)(call)
    result: ResultT = await (await run_task(made)).aresult()
    return result


async def extract_pending(run: RunContext) -> Outcome:
    """Extract what is pending of an edition, in one process at a time, and find the pages again
    that reports cite by other keys now.

    Raises:
        Misconfigured: a model would be paid for it, and nobody has permitted that.
    """
    edition = run.plan.selection.edition
    async with hold_lock(run.store.locks, f"extraction of {edition}", print_message):
        run.renew_if_shared()
        if pending := run.plan.find_pending(CLAIMS):
            check_permitted(await asyncio.to_thread(describe_extraction, run.plan, run.budget.usd))
        outcome = await run_stage(run, CLAIMS)
        if await find_pages_again(run.store, edition) or pending:
            run.plan = run.plan.renew()
        return outcome
