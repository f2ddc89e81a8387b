"""A Prefect task for each item of a stage, side by side, until something stops the stage."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from flows.runtime.progress import StageProgress, stage_progress
from flows.runtime.task_runs import error_of, finished, reason_of
from flows.stages import Failure
from tasks.models.errors import StopsTheStage
from tasks.wikipedia.errors import WikiUnreachable

STOPS = (StopsTheStage, WikiUnreachable)
"""Errors after which no other item of the stage could succeed."""
SHOWN_TITLE = 24
SHOWN_ERRORS, SHOWN_ITEMS = 5, 3
"""Of failures that are told in words; the `failures` artifact names every one."""


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
