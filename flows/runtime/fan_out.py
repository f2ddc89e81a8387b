"""Run a Prefect task for each item of a stage concurrently, until an error stops the stage."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from prefect import tags

from flows.runtime.progress import StageProgress, stage_progress
from flows.runtime.task_runs import format_error, get_task_error, run_task
from tasks.models.errors import StopStage
from tasks.warehouse.errors import WarehouseError
from tasks.wikipedia.errors import WikiUnreachable

KeyT = TypeVar("KeyT")
STOPPING_ERRORS = (StopStage, WikiUnreachable)
"""Errors after which no other item of the stage could succeed."""
TITLE_LENGTH = 24
MAX_ERRORS, MAX_ITEMS = 5, 3
"""Failures listed in a message; the `failures` artifact lists all."""


@dataclass(frozen=True)
class Failure:
    """One item that could not be done in this run."""

    stage: str
    item: str
    error: str


async def run_items(
    stage: str,
    work: Sequence[tuple[str, Any]],
    start: Callable[[str, Any], Any],
    *,
    concurrency: int | Mapping[str, int],
    size: Callable[[Any], int] = lambda item: 1,
    group: Callable[[Any], str] = lambda item: "",
    wait_for_capacity: Callable[[], Awaitable[None]] | None = None,
) -> list[Failure]:
    """Run a task for each (title, item) of `work`; return the failures.

    Args:
        start: calls the task of one item with `return_state=True`.
        concurrency: how many tasks run at a time; a mapping sets it per group.
        size: how much an item counts in the progress bar.
        group: an item's group: an error that stops one group does not stop the others.
        wait_for_capacity: called before each start.

    Raises:
        WarehouseError: nothing could be kept.
    """
    failures: list[Failure] = []
    stopped: dict[str, BaseException] = {}
    left: Counter[str] = Counter()
    every = Counter(group(item) for _, item in work)
    slots = {
        of: asyncio.Semaphore(concurrency if isinstance(concurrency, int) else concurrency[of])
        for of in every
    }

    async def one(title: str, item: Any, progress: StageProgress) -> None:
        of = group(item)
        async with slots[of]:
            if wait_for_capacity and of not in stopped:
                await wait_for_capacity()
            if of in stopped:
                left[of] += 1
                return
            progress.describe(f"{stage}: {title[:TITLE_LENGTH]}")
            error = await get_task_error(await run_task(partial(start, title, item)))
            if isinstance(error, STOPPING_ERRORS):
                stopped[of] = error
                left[of] += 1
            elif error:
                failures.append(Failure(stage, title, format_error(error)))
            await progress.advance(size(item))

    if work:
        async with stage_progress(stage, sum(size(item) for _, item in work)) as progress:
            await asyncio.gather(*(one(title, item, progress) for title, item in work))
    stops = [
        Failure(stage, f"{of or stage} {left[of]} of {every[of]} are left", str(error))
        for of, error in stopped.items()
    ]
    return stops + failures


async def run_groups(
    stage: str,
    work: dict[str, tuple[KeyT, int]],
    start: Callable[[KeyT], Any],
) -> list[Failure]:
    """Run a task per entry of `work` (name → key, number of items) concurrently."""
    failures: list[Failure] = []
    async with stage_progress(stage, sum(n for _, n in work.values())) as progress:

        async def one(name: str, key: KeyT, items: int) -> None:
            with tags(f"agent:{name}"):
                state = await run_task(partial(start, key))
            if error := await get_task_error(state):
                failures.append(Failure(stage, name, format_error(error)))
            await progress.advance(items)

        await run_all(one(name, key, items) for name, (key, items) in work.items())
    return failures


async def run_all(coroutines: Iterable[Coroutine[object, object, None]]) -> None:
    """Run all coroutines; the first warehouse error cancels the rest and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            for coroutine in coroutines:
                group.create_task(coroutine)
    except* WarehouseError as errors:
        raise errors.exceptions[0] from None


def format_failures(failures: Sequence[Failure]) -> str:
    """Format the first errors, a line each after their items, and count the other failures."""
    by_error: dict[str, list[str]] = {}
    for failure in failures:
        by_error.setdefault(failure.error, []).append(failure.item)
    listed = list(by_error.items())[:MAX_ERRORS]
    lines = "".join(f"\n  {_format_items(items)}: {error}" for error, items in listed)
    rest = len(failures) - sum(len(items) for _, items in listed)
    return lines + (f"\n  (and {rest} more)" if rest else "")


def _format_items(items: Sequence[str]) -> str:
    more = len(items) - MAX_ITEMS
    return "; ".join(items[:MAX_ITEMS]) + (f" and {more} more" if more > 0 else "")
