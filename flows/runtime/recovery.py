"""Find runs that were killed, and restart or close them; every stage resumes where it was.

If a run's process dies, the process that started it marks the run `Crashed`. If that is gone as
well (a host without power), only the run's heartbeats stop. `evergreen serve` checks for both and
schedules the same run again, as a person does with *Retry* on its page. A killed run of a command
is closed by the next command.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.actions import LogCreate
from prefect.client.schemas.filters import FlowRunFilter, TaskRunFilter
from prefect.client.schemas.objects import TERMINAL_STATES, FlowRun, State, StateType, TaskRun
from prefect.context import FlowRunContext
from prefect.exceptions import PrefectException
from prefect.states import AwaitingRetry, Cancelled, Crashed

from flows.runtime.cancelling import run_until_cancelled
from flows.runtime.run_locks import forget_run, hold_run, is_held, kill_run, list_runs

HEARTBEAT = "prefect.flow-run.heartbeat"
SILENT_SECONDS = 100
"""Three heartbeats of 30 s, and some time to store the last."""
CHECK_SECONDS = 10
LATE_SECONDS = 30
"""A check that comes so much later than planned: the machine slept, and its runs with it."""
CANCEL_SECONDS = 45
"""How long the process that started a run may take to end a cancelled one: Prefect gives it 30."""
SHUT_DOWN = "Runner is shutting down."
"""The message of runs that Prefect (3.9.1) cancels because `evergreen serve` was stopped."""
MAX_CRASH_SECONDS = 24 * 3600
"""Older crashes are not restarted: a person has left them."""
SETTLE_SECONDS = 3
"""How long a server may take to store the last events of a process."""
UNFINISHED = sorted({*StateType} - TERMINAL_STATES)
KILLED = "Its process was killed. What it had committed is kept; give the command again to go on."


def listen_since(since: float, last: float, now: float) -> float:
    """Return since when heartbeats would have arrived without a break: `since`, or `now` if this
    check does not come `CHECK_SECONDS` after the last: the machine slept, and its runs with it."""
    return since if 0 <= now - last <= CHECK_SECONDS + LATE_SECONDS else now


async def watch_runs(
    deployments: Sequence[UUID], max_resumes: int, on_message: Callable[[str], None]
) -> None:
    """Restart crashed runs of these deployments until cancelled; wait for a server that is away.

    Args:
        max_resumes: how often one run may be restarted; 0: never.
        on_message: called with a line about each crash and restart.
    """
    since = last = time.time()  # the clock that goes on while the machine sleeps
    reported: set[UUID] = set()
    while True:
        now = time.time()
        since, last = listen_since(since, last, now), now
        try:
            async with get_client() as client:
                await _end_cancelled_runs(client, deployments, on_message)
                if now - since > SILENT_SECONDS:
                    await _mark_silent_runs(client, deployments, on_message)
                await _resume_crashed_runs(client, deployments, max_resumes, on_message, reported)
        except (httpx.HTTPError, PrefectException):  # the latter: of a run that was deleted
            # Heartbeats could not arrive either, so silence proves nothing until they can.
            since = time.time()
        await asyncio.sleep(CHECK_SECONDS)


async def run_held(work: Coroutine[Any, Any, Any]) -> Any:
    """Do the work of the current run. One of a command holds its lock meanwhile, and ends when it
    is cancelled; the process of a served run holds its own, and `evergreen serve` ends it."""
    context = FlowRunContext.get()
    run = context.flow_run if context else None
    if run is None or run.parent_task_run_id or run.deployment_id:
        return await work
    with hold_run(run.id):
        return await run_until_cancelled(work, run.id)


async def close_dead_runs(on_message: Callable[[str], None]) -> None:
    """Close the runs of commands with this Prefect home whose process was killed, and what died
    with them. Runs of another home or host have no lock file here, and are left alone.

    on_message: called with a line about each.
    """
    if not (dead := list_runs(held=False)):
        return
    async with get_client() as client:
        wanted = FlowRunFilter.model_validate({"id": {"any_": dead}})
        runs = {run.id: run for run in await client.read_flow_runs(flow_run_filter=wanted)}
        for run_id in dead:
            run = runs.get(run_id)
            if run and run.state and not run.state.is_final():
                if run.deployment_id:
                    continue  # `serve` restarts it
                await close_children(client, run.id, KILLED)
                await client.set_flow_run_state(run.id, Crashed(message=KILLED), force=True)
                on_message(f"{run.name} was killed; its run is closed as crashed.")
            forget_run(run_id)


async def _end_cancelled_runs(
    client: PrefectClient, deployments: Sequence[UUID], on_message: Callable[[str], None]
) -> None:
    """End the processes of cancelled runs that whoever started them had the time to end and did
    not, e.g. because it was killed meanwhile."""
    since = datetime.now(UTC) - timedelta(seconds=CANCEL_SECONDS)
    runs = await find_runs(client, deployments, StateType.CANCELLING)
    if held := list_runs(held=True):
        runs += await find_runs(client, deployments, StateType.CANCELLED, id={"any_": held})
    for run in runs:
        if run.state is None or run.state.timestamp > since:
            continue
        if kill_run(run.id) or not await _has_heartbeat(client, run.id, since):
            message = "Cancelled; its process was ended."
            await close_children(client, run.id, message)
            await client.set_flow_run_state(run.id, Cancelled(message=message), force=True)
            on_message(f"{run.name}: {message}")


async def _mark_silent_runs(
    client: PrefectClient, deployments: Sequence[UUID], on_message: Callable[[str], None]
) -> None:
    """Mark runs without heartbeats as crashed, unless their process lives on this host."""
    for run in await find_runs(client, deployments, StateType.RUNNING, StateType.PENDING):
        since = datetime.now(UTC) - timedelta(seconds=SILENT_SECONDS)
        if (
            run.state
            and run.state.timestamp < since
            and not is_held(run.id)
            and not await _has_heartbeat(client, run.id, since)
        ):
            message = f"No heartbeat for {SILENT_SECONDS} s: its process is gone."
            await client.set_flow_run_state(run.id, Crashed(message=message))
            on_message(f"{run.name}: {message}")


async def _resume_crashed_runs(
    client: PrefectClient,
    deployments: Sequence[UUID],
    max_resumes: int,
    on_message: Callable[[str], None],
    reported: set[UUID],
) -> None:
    runs = await find_runs(client, deployments, StateType.CRASHED)
    since = datetime.now(UTC) - timedelta(seconds=MAX_CRASH_SECONDS)
    cancelled = await find_runs(
        client, deployments, StateType.CANCELLED, end_time={"after_": since.isoformat()}
    )
    runs += [run for run in cancelled if run.state and run.state.message == SHUT_DOWN]
    for run in runs:
        age = datetime.now(UTC) - run.state.timestamp if run.state else timedelta()
        if not SETTLE_SECONDS <= age.total_seconds() < MAX_CRASH_SECONDS or is_held(run.id):
            continue
        # Not the run's own count, which also counts its waits for the warehouse.
        states = await client.read_flow_run_states(run.id)
        crashes = [state for state in states if state.type is StateType.CRASHED]
        crashes = crashes or [state for state in states if state.is_cancelled()]
        if len(crashes) <= max_resumes:
            on_message(await _resume(client, run, crashes, max_resumes))
        elif run.id not in reported:
            reported.add(run.id)
            await close_children(client, run.id, f"Its run crashed: {crashes[-1].message}")
            if max_resumes:
                on_message(
                    f"{run.name}: crashed {len(crashes)} times and is not restarted. Its page in "
                    "the UI says why; press Retry there to resume it."
                )


async def _resume(
    client: PrefectClient, run: FlowRun, crashes: Sequence[State[Any]], max_resumes: int
) -> str:
    """Close what died with a run and schedule it again; return a line about it."""
    crash = max(crashes, key=lambda state: state.timestamp)
    died = await close_children(client, run.id, f"Its run crashed: {crash.message}")
    line = LogCreate(
        name="prefect.flow_runs", level=logging.WARNING, timestamp=datetime.now(UTC),
        flow_run_id=run.id,
        message=f"Crashed at {crash.timestamp:%Y-%m-%d %H:%M:%S} UTC: {crash.message} {died} task "
        "runs and subflows ended with it. The run goes on with all that is in the warehouse "
        f"(restart {len(crashes)} of at most {max_resumes}).",
    )  # fmt: skip
    await client.create_logs([line])
    message = f"Restarted after: {crash.message}"
    again: State[None] = AwaitingRetry(scheduled_time=datetime.now(UTC), message=message)
    await client.set_flow_run_state(run.id, again, force=True)
    return f"{run.name}: crashed ({crash.message}); restarted."


async def close_children(client: PrefectClient, run: UUID, message: str) -> int:
    """Set the task runs and subflows of a dead run that have not ended to `Crashed`.

    Returns:
        How many they were.
    """
    below = FlowRunFilter.model_validate({"parent_flow_run_id": {"any_": [run]}})
    closed = 0
    for part in await client.read_flow_runs(flow_run_filter=below):
        closed += await close_children(client, part.id, message)
        if part.state and not part.state.is_final():
            # Its task run in the parent follows it.
            await client.set_flow_run_state(part.id, Crashed(message=message), force=True)
            closed += 1
    unfinished = TaskRunFilter.model_validate(
        {"flow_run_id": {"any_": [run]}, "state": {"type": {"any_": UNFINISHED}}}
    )
    tasks: list[TaskRun] = []
    while page := await client.read_task_runs(task_run_filter=unfinished, offset=len(tasks)):
        tasks += page
    for task in tasks:
        await client.set_task_run_state(task.id, Crashed(message=message), force=True)
    return closed + len(tasks)


async def find_runs(
    client: PrefectClient, deployments: Sequence[UUID], *types: StateType, **more: Any
) -> list[FlowRun]:
    """Return the runs of deployments that are in a state of one of these types. more: further
    fields of the filter."""
    wanted = {"deployment_id": {"any_": [*deployments]}, "state": {"type": {"any_": types}}}
    return await client.read_flow_runs(flow_run_filter=FlowRunFilter.model_validate(wanted | more))


async def _has_heartbeat(client: PrefectClient, run: UUID, since: datetime) -> bool:
    filters: dict[str, Any] = {
        "event": {"name": [HEARTBEAT]},
        "resource": {"id": [f"prefect.flow-run.{run}"]},
        "occurred": {"since": since.isoformat()},
    }
    found = await client.request("POST", "/events/filter", json={"filter": filters, "limit": 1})
    return bool(found.json()["events"])
