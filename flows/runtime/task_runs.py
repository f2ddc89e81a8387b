"""Run one task to its end, and a stage's items concurrently, until an error stops the stage."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

from prefect.client.schemas.objects import State

from flows.runtime.outcomes import read_outcome
from flows.runtime.progress import stage_progress
from tasks.files.room import find_full_disk
from tasks.jobs.run import NoReport
from tasks.models.errors import StopStage
from tasks.outcome import Failure, PartLeft, PartOpen
from tasks.secrecy.guard import KeyGuard
from tasks.warehouse.errors import NoRoom, WarehouseError, first_line
from tasks.wikipedia.errors import WikiUnreachable

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
STOPPING_ERRORS = (StopStage, WikiUnreachable)
"""Errors after which no other item of the stage could succeed."""
TASK_RUNS = count()
"""Counts the task runs that this process has started, to know when their history is complete."""


async def run_task(task: Callable[..., Any], *arguments: object) -> State[Any]:
    """Run a task with these arguments; return its final state.

    It has no tags: before each task with tags Prefect asks the server for a concurrency slot, with
    a new client that does not retry.
    """
    next(TASK_RUNS)
    state: State[Any] = await task(*arguments, return_state=True)
    return state


async def run_part(task: Callable[..., Any], *arguments: object) -> BaseException | None:
    """Run a part's task; return its error if it left something.

    Raises:
        WarehouseError: nothing could be kept.
    """
    state = await run_task(task, *arguments)
    outcome = await read_outcome(state)
    error = outcome.error
    if outcome.kind == "open":
        error = await state.aresult(raise_on_failure=False)
    if isinstance(error, WarehouseError):
        raise error
    if error and (problem := find_full_disk(error)):
        raise NoRoom.met(problem) from error
    return error


def format_error(error: BaseException) -> str:
    """Format an error as one line that Prefect may keep: without our keys, and with its class name
    unless its message is for people."""
    prefix = "" if isinstance(error, NoReport) else f"{type(error).__name__}: "
    return prefix + KeyGuard().hide_own(first_line(error))[0]


class Later(Exception):
    """An item cannot be done yet: it is run once more when the others are done."""


@dataclass
class Items:
    """What became of a stage's items."""

    failures: list[Failure] = field(default_factory=list)
    n: int = 0
    left: int = 0
    """How many were not done, as far as whole parts tell."""
    is_open: bool = False
    """Whether some wait for their second look."""

    def add(self, stage: str, title: str, size: int, error: BaseException | None) -> None:
        """Note how an item ended; what stops its group is listed by `run_items`."""
        if error is None:
            return
        left = error.left if isinstance(error, PartLeft) else None
        self.left += size if left is None else min(left, size)
        if isinstance(error, PartOpen):
            self.is_open = True
        elif not isinstance(error, STOPPING_ERRORS):
            self.failures.append(Failure(stage, title, format_error(error), error))


async def run_items(
    stage: str,
    work: Sequence[tuple[str, ItemT]],
    run: Callable[[ItemT, Callable[[int], None]], Awaitable[BaseException | None]],
    *,
    noun: str = "item",
    concurrency: int | Mapping[str, int] | None = None,
    size: Callable[[ItemT], int] = lambda item: 1,
    group: Callable[[ItemT], str] = lambda item: "",
    wait_for_capacity: Callable[[], Awaitable[None]] | None = None,
    counts: bool = True,
) -> Items:
    """Run each (title, item) of `work`; return what became of them.

    Args:
        run: runs one item and returns its error (see `run_part`), or `Later`; it may call its
            second argument with its progress.
        concurrency: how many items run at a time, all if None; a mapping sets it per group.
        noun, size: what the progress counts, and how much of that an item is.
        group: an item's group: an error that stops one group does not stop the others.
        wait_for_capacity: called before each start.
        counts: whether to count an item when it ends; else it counts itself.

    Raises:
        WarehouseError: nothing could be kept; the items under way are cancelled.
    """
    found = Items(n=sum(size(item) for _, item in work))
    stopped: dict[str, BaseException] = {}
    left: Counter[str] = Counter()
    later: list[tuple[str, ItemT]] = []
    every = Counter(group(item) for _, item in work)
    slots = _make_slots(every, concurrency)

    async def one(title: str, item: ItemT) -> None:
        of = group(item)
        async with slots[of]:
            if wait_for_capacity and of not in stopped:
                await wait_for_capacity()
            if of in stopped:
                left[of] += 1
                found.left += size(item)
                return
            progress.describe(title)
            error = await run(item, progress.advance)
        if isinstance(error, Later):
            later.append((title, item))
            return
        found.add(stage, title, size(item), error)
        if isinstance(error, STOPPING_ERRORS):
            stopped.setdefault(of, error)
            left[of] += 1
        if counts:
            progress.advance(size(item))

    if work:
        async with stage_progress(stage, found.n, noun) as progress:
            await run_together(one(title, item) for title, item in work)
            await run_together(one(title, item) for title, item in later)
    found.failures = _list_stops(stage, stopped, left, every) + found.failures
    return found


def _list_stops(
    stage: str, stopped: Mapping[str, BaseException], left: Counter[str], every: Counter[str]
) -> list[Failure]:
    """Return a failure for each group that an error has stopped, with how many items are left."""
    return [
        Failure(stage, f"{of or stage} {left[of]} of {every[of]} are left", str(error), error)
        for of, error in stopped.items()
    ]


def _make_slots(
    n_items: Mapping[str, int], concurrency: int | Mapping[str, int] | None
) -> dict[str, asyncio.Semaphore]:
    """Make the slots of each group, by the number of its items."""
    limits = (
        concurrency if isinstance(concurrency, Mapping) else dict.fromkeys(n_items, concurrency)
    )
    return {of: asyncio.Semaphore(limits.get(of) or n) for of, n in n_items.items()}


async def run_together(coroutines: Iterable[Coroutine[object, object, ResultT]]) -> list[ResultT]:
    """Run all coroutines; return their results. The first error cancels the rest and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(coroutine) for coroutine in coroutines]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [each.result() for each in running]
