"""A Prefect task for each item of a stage, side by side, until something stops the stage."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from prefect import tags

from flows.runtime.progress import StageProgress, stage_progress
from flows.runtime.task_runs import error_of, finished, reason_of
from tasks.models.errors import StopsTheStage
from tasks.warehouse.errors import WarehouseError
from tasks.wikipedia.errors import WikiUnreachable

KeyT = TypeVar("KeyT")
STOPS = (StopsTheStage, WikiUnreachable)
"""Errors after which no other item of the stage could succeed."""
SHOWN_TITLE = 24
SHOWN_ERRORS, SHOWN_ITEMS = 5, 3
"""Of failures that are told in words; the `failures` artifact names every one."""


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
    at_once: int | Mapping[str, int],
    size: Callable[[Any], int] = lambda item: 1,
    group: Callable[[Any], str] = lambda item: "",
    room: Callable[[], Awaitable[None]] | None = None,
) -> list[Failure]:
    """What could not be done of `work` (title, item).

    Args:
        start: begins the task of one item, with `return_state=True`.
        at_once: tasks at once; of each group where they differ.
        size: how many an item counts for in the progress bar.
        group: what stops together: an error that stops one group leaves the others alone.
        room: waited for before each start.

    Raises:
        WarehouseError: nothing could be kept.
    """
    failures: list[Failure] = []
    stopped: dict[str, BaseException] = {}
    left: Counter[str] = Counter()
    every = Counter(group(item) for _, item in work)
    slots = {
        of: asyncio.Semaphore(at_once if isinstance(at_once, int) else at_once[of]) for of in every
    }

    async def one(title: str, item: Any, progress: StageProgress) -> None:
        of = group(item)
        async with slots[of]:
            if room and of not in stopped:
                await room()
            if of in stopped:
                left[of] += 1
                return
            progress.say(f"{stage}: {title[:SHOWN_TITLE]}")
            error = await error_of(await finished(partial(start, title, item)))
            if isinstance(error, STOPS):
                stopped[of] = error
                left[of] += 1
            elif error:
                failures.append(Failure(stage, title, reason_of(error)))
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
    """Run a coarse task per entry of `work` (name → key, number of items), side by side."""
    failures: list[Failure] = []
    async with stage_progress(stage, sum(n for _, n in work.values())) as progress:

        async def one(name: str, key: KeyT, items: int) -> None:
            with tags(f"agent:{name}"):
                state = await finished(partial(start, key))
            if error := await error_of(state):
                failures.append(Failure(stage, name, reason_of(error)))
            await progress.advance(items)

        await run_all(one(name, key, items) for name, (key, items) in work.items())
    return failures


async def run_all(coroutines: Iterable[Coroutine[object, object, None]]) -> None:
    """Wait for all; the first error of the warehouse ends the rest and is raised itself."""
    try:
        async with asyncio.TaskGroup() as group:
            for coroutine in coroutines:
                group.create_task(coroutine)
    except* WarehouseError as errors:
        raise errors.exceptions[0] from None


def partial_message(failures: Sequence[Failure]) -> str:
    """The first errors in words, each on a line after the items that it is about, and how many
    failures more there are."""
    by_error: dict[str, list[str]] = {}
    for failure in failures:
        by_error.setdefault(failure.error, []).append(failure.item)
    told = list(by_error.items())[:SHOWN_ERRORS]
    shown = "".join(f"\n  {_named(items)}: {error}" for error, items in told)
    rest = len(failures) - sum(len(items) for _, items in told)
    return shown + (f"\n  (and {rest} more)" if rest else "")


def _named(items: Sequence[str]) -> str:
    more = len(items) - SHOWN_ITEMS
    return "; ".join(items[:SHOWN_ITEMS]) + (f" and {more} more" if more > 0 else "")
