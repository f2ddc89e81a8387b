"""Runs that were killed: noticed, and begun again, since every stage goes on where it was.

A run whose process ends without a word is marked `Crashed` by whoever started the process. Where
that is gone as well (a host without power) nobody says anything: then it is the heartbeats that
stop. `evergreen serve` looks for both and has the same run scheduled again, as a person does with
*Retry* on its page.
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
"""Three heartbeats, of 30 s each, and some time for the last to be stored."""
LOOK_SECONDS = 10
RESUMED_WITHIN = timedelta(days=1)
"""A run that crashed before that was left by a person."""


async def keep_resuming(
    deployments: Sequence[UUID], most: int, on_message: Callable[[str], None]
) -> None:
    """Look after the runs of these deployments until cancelled; a server that is away is waited
    for.

    Args:
        most: how often one run may be begun again; 0: none is.
        on_message: called with, in a line, what was noticed and done.
    """
    heard_since = time.monotonic()
    said: set[UUID] = set()
    while True:
        try:
            async with get_client() as client:
                if time.monotonic() - heard_since > SILENT_SECONDS:
                    await _mark_silent(client, deployments, on_message)
                await _resume_crashed(client, deployments, most, on_message, said)
        except httpx.HTTPError:
            # Heartbeats did not arrive either: silence means nothing until they could have.
            heard_since = time.monotonic()
        await asyncio.sleep(LOOK_SECONDS)


async def _mark_silent(
    client: PrefectClient, deployments: Sequence[UUID], on_message: Callable[[str], None]
) -> None:
    """Runs of which nothing is heard any more are crashed."""
    for run in await _runs(client, deployments, StateType.RUNNING, StateType.PENDING):
        since = datetime.now(UTC) - timedelta(seconds=SILENT_SECONDS)
        if run.state and run.state.timestamp < since and not await _heard(client, run.id, since):
            message = f"Nothing was heard of it for {SILENT_SECONDS} s: its process is gone."
            await client.set_flow_run_state(run.id, Crashed(message=message))
            on_message(f"{run.name}: {message}")


async def _resume_crashed(
    client: PrefectClient,
    deployments: Sequence[UUID],
    most: int,
    on_message: Callable[[str], None],
    said: set[UUID],
) -> None:
    for run in await _runs(client, deployments, StateType.CRASHED):
        if run.state is None or run.state.timestamp < datetime.now(UTC) - RESUMED_WITHIN:
            continue
        # Not the run's own count: a run that waited for the warehouse was begun once more, too.
        states = await client.read_flow_run_states(run.id)
        crashes = sum(state.type is StateType.CRASHED for state in states)
        if crashes <= most:
            message = f"Begun again after: {run.state.message}"
            await client.set_flow_run_state(
                run.id, AwaitingRetry(scheduled_time=datetime.now(UTC), message=message)
            )
            on_message(f"{run.name}: crashed ({run.state.message}); begun again.")
        elif most and run.id not in said:
            said.add(run.id)
            on_message(
                f"{run.name}: crashed {crashes} times and is left. Its page in the UI says "
                "why; press Retry there to go on."
            )


async def _runs(
    client: PrefectClient, deployments: Sequence[UUID], *types: StateType
) -> list[FlowRun]:
    wanted = FlowRunFilter(
        deployment_id=FlowRunFilterDeploymentId(any_=list(deployments)),
        state=FlowRunFilterState(type=FlowRunFilterStateType(any_=list(types))),
    )
    return await client.read_flow_runs(flow_run_filter=wanted)


async def _heard(client: PrefectClient, run: UUID, since: datetime) -> bool:
    asked: dict[str, Any] = {
        "event": {"name": [HEARTBEAT]},
        "resource": {"id": [f"prefect.flow-run.{run}"]},
        "occurred": {"since": since.isoformat()},
    }
    found = await client.request("POST", "/events/filter", json={"filter": asked, "limit": 1})
    return bool(found.json()["events"])
