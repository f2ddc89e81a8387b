"""Running one task to its end, whatever becomes of the Prefect server meanwhile."""

from collections.abc import Callable
from itertools import count
from typing import Any

from prefect.client.schemas.objects import State
from prefect.concurrency.asyncio import ConcurrencySlotAcquisitionError
from tenacity import (
    AsyncRetrying,
    retry_if_exception_type,
    stop_after_delay,
    wait_random_exponential,
)

from tasks.jobs.run import NoReport
from tasks.warehouse.errors import WarehouseError, first_line

TASK_RUNS = count()
"""Counts the task runs this process has started, to know when their history is complete."""
AWAY_SECONDS = 900
"""How long a server that is away is waited for: as long as the rest of Prefect's client, whose
eight tries (`PREFECT_CLIENT_MAX_RETRIES` in docker-compose.yml) take 510 s, and some more."""
LONGEST_WAIT_SECONDS = 30


async def finished(start: Callable[[], Any]) -> State[Any]:
    """The final state of a task.

    Before a task with tags begins, Prefect asks the server for a place under their limits, with a
    client that is new and does not ask twice. So a server that is being restarted would fail the
    whole run; here the task, which has not begun, is begun again.

    Args:
        start: calls the task with `return_state=True` (whose types say less).

    Raises:
        ConcurrencySlotAcquisitionError: the server stayed away.
    """
    next(TASK_RUNS)

    async def begun() -> State[Any]:
        state: State[Any] = await start()
        return state

    tries = AsyncRetrying(
        retry=retry_if_exception_type(ConcurrencySlotAcquisitionError),
        stop=stop_after_delay(AWAY_SECONDS),
        wait=wait_random_exponential(max=LONGEST_WAIT_SECONDS),
        reraise=True,
    )
    return await tries(begun)


async def result_of(start: Callable[[], Any]) -> Any:
    """What a task gives, called as for `finished`; what it failed with is raised."""
    return await (await finished(start)).aresult()


async def error_of(state: State[Any]) -> BaseException | None:
    """What a finished task failed with; errors of the warehouse are raised."""
    if state.is_completed():
        return None
    error = await state.aresult(raise_on_failure=False)
    if isinstance(error, WarehouseError):
        raise error
    return error if isinstance(error, BaseException) else RuntimeError(str(state.message))


def reason_of(error: BaseException) -> str:
    """What went wrong, in a line; with the error's name where its words are not for people."""
    named = "" if isinstance(error, NoReport) else f"{type(error).__name__}: "
    return named + first_line(error)
