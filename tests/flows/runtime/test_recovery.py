"""A run without heartbeats is marked as crashed; one that was heard of, that just began, or whose
process lives, is not; and after a machine has slept, silence proves nothing for a while."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import AsyncMock
from uuid import UUID, uuid4

import httpx
import pytest
from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.objects import FlowRun, State
from prefect.states import Running

from flows.runtime.recovery import CHECK_SECONDS, SILENT_SECONDS, _mark_silent_runs, listen_since
from flows.runtime.run_locks import hold_run


def running(name: str, seconds: float) -> FlowRun:
    """A run that has been running for so long."""
    state: State[None] = Running(timestamp=datetime.now(UTC) - timedelta(seconds=seconds))
    return FlowRun(flow_id=uuid4(), name=name, state=state)


def test_only_a_silent_run_is_marked_and_its_name_is_said() -> None:
    silent, heard = running("silent", 2 * SILENT_SECONDS), running("heard", 2 * SILENT_SECONDS)
    young, held = running("young", SILENT_SECONDS / 2), running("held", 2 * SILENT_SECONDS)

    async def events(_: str, __: str, json: dict[str, Any]) -> httpx.Response:
        asked = json["filter"]["resource"]["id"]
        found: list[dict[str, Any]] = [{}] if asked == [f"prefect.flow-run.{heard.id}"] else []
        return httpx.Response(200, json={"events": found})

    client = AsyncMock(spec=PrefectClient)
    client.read_flow_runs.return_value = [silent, heard, young, held]
    client.request.side_effect = events
    said: list[str] = []
    with hold_run(held.id):
        asyncio.run(_mark_silent_runs(client, [uuid4()], said.append))

    (marked,) = client.set_flow_run_state.await_args_list
    run, state = marked.args
    assert isinstance(run, UUID)
    assert (run, state.name) == (silent.id, "Crashed")
    assert said == [f"silent: No heartbeat for {SILENT_SECONDS} s: its process is gone."]


@pytest.mark.parametrize("jump", [3600, -3600], ids=["a machine that slept", "a clock set back"])
def test_after_a_jump_of_the_clock_the_next_heartbeats_are_waited_for(jump: float) -> None:
    now = 1_000_000.0
    assert listen_since(now - 500, now - CHECK_SECONDS, now) == now - 500
    assert listen_since(now - 500, now - CHECK_SECONDS, now + jump) == now + jump
