"""A run without heartbeats is marked as crashed; one that was heard of, or just began, is not."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import AsyncMock
from uuid import UUID, uuid4

import httpx
from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.objects import FlowRun, State
from prefect.states import Running

from flows.runtime.recovery import SILENT_SECONDS, _mark_silent_runs


def running(name: str, seconds: float) -> FlowRun:
    """A run that has been running for so long."""
    state: State[None] = Running(timestamp=datetime.now(UTC) - timedelta(seconds=seconds))
    return FlowRun(flow_id=uuid4(), name=name, state=state)


def test_only_a_silent_run_is_marked_and_its_name_is_said() -> None:
    silent, heard = running("silent", 2 * SILENT_SECONDS), running("heard", 2 * SILENT_SECONDS)
    young = running("young", SILENT_SECONDS / 2)

    async def events(_: str, __: str, json: dict[str, Any]) -> httpx.Response:
        asked = json["filter"]["resource"]["id"]
        found: list[dict[str, Any]] = [{}] if asked == [f"prefect.flow-run.{heard.id}"] else []
        return httpx.Response(200, json={"events": found})

    client = AsyncMock(spec=PrefectClient)
    client.read_flow_runs.return_value = [silent, heard, young]
    client.request.side_effect = events
    said: list[str] = []
    asyncio.run(_mark_silent_runs(client, [uuid4()], said.append))

    (marked,) = client.set_flow_run_state.await_args_list
    run, state = marked.args
    assert isinstance(run, UUID)
    assert (run, state.name) == (silent.id, "Crashed")
    assert said == [f"silent: No heartbeat for {SILENT_SECONDS} s: its process is gone."]
