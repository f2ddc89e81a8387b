"""Run one task or flow to its end; a task even if the Prefect server restarts meanwhile."""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from prefect import tags
from prefect.client.schemas.objects import State
from prefect.concurrency.asyncio import ConcurrencySlotAcquisitionError
from tenacity import (
    AsyncRetrying,
    retry_if_exception_type,
    stop_after_delay,
    wait_random_exponential,
)

from tasks.files.room import find_full_disk
from tasks.jobs.run import NoReport
from tasks.secrecy.guard import KeyGuard
from tasks.warehouse.errors import NoRoom, WarehouseError, first_line

TASK_RUNS = count()
"""Counts the task runs that this process has started, to know when their history is complete."""
MAX_OUTAGE_SECONDS = 900
"""How long to wait for a server that is away: longer than the rest of Prefect's client, whose eight
tries (`PREFECT_CLIENT_MAX_RETRIES` in docker-compose.yml) take 510 s."""
MAX_WAIT_SECONDS = 30


async def run_task(task: Callable[..., Any], *arguments: object) -> State[Any]:
    """Run a task with these arguments; return its final state.

    Before a task with tags starts, Prefect asks the server for a concurrency slot, with a new
    client that does not retry. A server that is being restarted would thus fail the whole run;
    here the task, which has not started yet, is called again.

    Raises:
        ConcurrencySlotAcquisitionError: the server stayed away.
    """
    next(TASK_RUNS)

    async def call() -> State[Any]:
        state: State[Any] = await task(*arguments, return_state=True)
        return state

    tries = AsyncRetrying(
        retry=retry_if_exception_type(ConcurrencySlotAcquisitionError),
        stop=stop_after_delay(MAX_OUTAGE_SECONDS),
        wait=wait_random_exponential(max=MAX_WAIT_SECONDS),
        reraise=True,
    )
    return await tries(call)


async def run_task_for_result(task: Callable[..., Any], *arguments: object) -> Any:
    """Run a task as `run_task` does; return its result or raise its error."""
    return await (await run_task(task, *arguments)).aresult()


async def run_task_for_error(
    task: Callable[..., Any], *arguments: object, tagged: Sequence[str] = ()
) -> BaseException | None:
    """Run a task as `run_task` does, with these tags; return its error if it failed.

    Raises:
        WarehouseError: nothing could be kept.
    """
    with tags(*tagged):
        state = await run_task(task, *arguments)
    if state.is_completed():
        return None
    error = await state.aresult(raise_on_failure=False)
    if isinstance(error, WarehouseError):
        raise error
    if isinstance(error, BaseException) and (problem := find_full_disk(error)):
        raise NoRoom.met(problem) from error
    return error if isinstance(error, BaseException) else RuntimeError(str(state.message))


async def complete_flow(running: Any) -> State[Any]:
    """Await a flow called with `return_state=True`; return its state or raise its error."""
    state: State[Any] = await running
    if not state.is_completed():
        await state.aresult()
    return state


def format_error(error: BaseException) -> str:
    """Format an error as one line that Prefect may keep: without our keys, and with its class name
    unless its message is for people."""
    prefix = "" if isinstance(error, NoReport) else f"{type(error).__name__}: "
    return prefix + KeyGuard().hide_own(first_line(error))[0]
