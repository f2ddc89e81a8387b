"""Run asynchronous work until it is done, interrupted, or without its local server.

Prefect tries for minutes to tell a server that is away how a run ended; once work is to stop, it
tries once. Paid calls that are under way are still waited for.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from prefect.settings import get_current_settings

from flows.display.console import print_message
from flows.runtime.ending import end_within
from flows.runtime.server import is_lost
from flows.runtime.server_record import ServerLost

ResultT = TypeVar("ResultT")
CHECK_SECONDS = 1.0
"""How often the server's lock is looked at."""
PATIENCE_SECONDS = 5.0
"""After how long it is said that stopping takes a while."""
END_LOST_SECONDS = 20.0
"""When a command without its server ends at the latest."""


def run_watched(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Do as `asyncio.run`.

    Raises:
        ServerLost: the local server is gone; the work was cancelled.
    """
    return asyncio.run(watch(work, is_lost))


async def watch(work: Coroutine[Any, Any, ResultT], lost: Callable[[], bool]) -> ResultT:
    """Await work; cancel it when this is cancelled, or once the server is lost."""
    task = asyncio.create_task(work)
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=CHECK_SECONDS)
            if not task.done() and lost():
                end_within(END_LOST_SECONDS, 1, f"error: {ServerLost()}")
                raise ServerLost
        return task.result()
    finally:
        if not task.done():
            client = get_current_settings().client
            client.max_retries, before = 0, client.max_retries
            await _cancel(task, lost)
            client.max_retries = before


async def _cancel(task: asyncio.Task[Any], lost: Callable[[], bool]) -> None:
    task.cancel()
    await asyncio.wait({task}, timeout=PATIENCE_SECONDS)
    if not task.done() and not lost():
        print_message("Waiting for what is under way; press Ctrl-C again to end at once.")
    await asyncio.wait({task})
    with suppress(asyncio.CancelledError):
        task.exception()  # no news: it was to end
