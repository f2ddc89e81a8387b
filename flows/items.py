"""A Prefect task for each item of a stage, side by side, until something stops the stage."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
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
            error = await error_of(await finished(start(title, item)))
            if isinstance(error, STOPS):
                stopped[of] = error
                left[of] += 1
            elif error:
                failures.append(Failure(stage, title, first_line(error)))
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
    """The first failures in words, each on a line, and how many more there are."""
    shown = "".join(f"\n  {f.item}: {f.error}" for f in failures[:5])
    return shown + (f"\n  (and {len(failures) - 5} more)" if len(failures) > 5 else "")
