"""Find runs that were killed and restart them; every stage resumes where it was.

If a run's process dies, the process that started it marks the run `Crashed`. If that is gone as
well (a host without power), only the run's heartbeats stop. `evergreen serve` checks for both and
schedules the same run again, as a person does with *Retry* on its page.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterDeploymentId,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.states import AwaitingRetry, Crashed

HEARTBEAT = "prefect.flow-run.heartbeat"
SILENT_SECONDS = 100
"""Three heartbeats of 30 s, and some time to store the last."""
CHECK_SECONDS = 10
MAX_CRASH_AGE = timedelta(days=1)
"""Older crashes are not restarted: a person has left them."""


async def watch_runs(
    deployments: Sequence[UUID], max_resumes: int, on_message: Callable[[str], None]
) -> None:
    """Restart crashed runs of these deployments until cancelled; wait for a server that is away.

    Args:
        max_resumes: how often one run may be restarted; 0: never.
        on_message: called with a line about each crash and restart.
    """
    heard_since = time.monotonic()
    reported: set[UUID] = set()
    while True:
        try:
            async with get_client() as client:
                if time.monotonic() - heard_since > SILENT_SECONDS:
                    await _mark_silent_runs(client, deployments, on_message)
                await _resume_crashed_runs(client, deployments, max_resumes, on_message, reported)
        except httpx.HTTPError:
            # Heartbeats could not arrive either, so silence proves nothing until they can.
            heard_since = time.monotonic()
        await asyncio.sleep(CHECK_SECONDS)


async def _mark_silent_runs(
    client: PrefectClient, deployments: Sequence[UUID], on_message: Callable[[str], None]
) -> None:
    """Mark runs without heartbeats as crashed."""
    for run in await find_runs(client, deployments, StateType.RUNNING, StateType.PENDING):
        since = datetime.now(UTC) - timedelta(seconds=SILENT_SECONDS)
        if (
            run.state
            and run.state.timestamp < since
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
    for run in await find_runs(client, deployments, StateType.CRASHED):
        if run.state is None or run.state.timestamp < datetime.now(UTC) - MAX_CRASH_AGE:
            continue
        # Not the run's own count, which also counts its waits for the warehouse.
        states = await client.read_flow_run_states(run.id)
        crashes = sum(state.type is StateType.CRASHED for state in states)
        if crashes <= max_resumes:
            message = f"Restarted after: {run.state.message}"
            await client.set_flow_run_state(
                run.id, AwaitingRetry(scheduled_time=datetime.now(UTC), message=message)
            )
            on_message(f"{run.name}: crashed ({run.state.message}); restarted.")
        elif max_resumes and run.id not in reported:
            reported.add(run.id)
            on_message(
                f"{run.name}: crashed {crashes} times and is not restarted. Its page in the UI "
                "says why; press Retry there to resume it."
            )


async def find_runs(
    client: PrefectClient, deployments: Sequence[UUID], *types: StateType
) -> list[FlowRun]:
    """Return the runs of deployments that are in a state of one of these types."""
    wanted = FlowRunFilter(
        deployment_id=FlowRunFilterDeploymentId(any_=list(deployments)),
        state=FlowRunFilterState(type=FlowRunFilterStateType(any_=list(types))),
    )
    return await client.read_flow_runs(flow_run_filter=wanted)


async def _has_heartbeat(client: PrefectClient, run: UUID, since: datetime) -> bool:
    filters: dict[str, Any] = {
        "event": {"name": [HEARTBEAT]},
        "resource": {"id": [f"prefect.flow-run.{run}"]},
        "occurred": {"since": since.isoformat()},
    }
    found = await client.request("POST", "/events/filter", json={"filter": filters, "limit": 1})
    return bool(found.json()["events"])
