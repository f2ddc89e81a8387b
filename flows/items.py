"""A Prefect task for each item of a stage, side by side, until something stops the stage."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from flows.progress import StageProgress, stage_progress
from flows.stages import Failure, error_of, finished, first_line
from tasks.models.errors import StopsTheStage
from tasks.wikipedia.errors import WikiUnreachable

STOPS = (StopsTheStage, WikiUnreachable)
"""Errors after which no other item of the stage could succeed."""
SHOWN_TITLE = 24


async def run_items(
    stage: str,
    work: Sequence[tuple[str, Any]],
    start: Callable[[str, Any], Any],
    *,
    at_once: int,
    size: Callable[[Any], int] = lambda item: 1,
    room: Callable[[], Awaitable[None]] | None = None,
) -> list[Failure]:
    """What could not be done of `work` (title, item).

    Args:
        start: begins the task of one item, with `return_state=True`.
        at_once: tasks at once.
        size: how many an item counts for in the progress bar.
        room: waited for before each start.

    Raises:
        WarehouseError: nothing could be kept.
    """
    failures: list[Failure] = []
    stopped: list[BaseException] = []
    left: list[str] = []

    async def one(title: str, item: Any, progress: StageProgress) -> None:
        async with slots:
            if room and not stopped:
                await room()
            if stopped:
                left.append(title)
                return
            progress.say(f"{stage}: {title[:SHOWN_TITLE]}")
            error = await error_of(await finished(start(title, item)))
            if isinstance(error, STOPS):
                stopped.append(error)
                left.append(title)
            elif error:
                failures.append(Failure(stage, title, first_line(error)))
            await progress.advance(size(item))

    slots = asyncio.Semaphore(at_once)
    if work:
        async with stage_progress(stage, sum(size(item) for _, item in work)) as progress:
            await asyncio.gather(*(one(title, item, progress) for title, item in work))
    if stopped:
        failures.insert(0, Failure(stage, f"{len(left)} of {len(work)} are left", str(stopped[0])))
    return failures


def partial_message(failures: Sequence[Failure]) -> str:
    """The first failures in words, and how many more there are."""
    shown = "; ".join(f"{f.item}: {f.error}" for f in failures[:3])
    return shown + (f" (and {len(failures) - 3} more)" if len(failures) > 3 else "")
