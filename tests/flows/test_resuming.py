"""The watch over runs lets alone what was just heard of."""

import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from flows import resuming
from tasks.warehouse.location import location
from tests import patient
from tests.flows.test_serve import run_of, state_of


@pytest.fixture
def deployment(api: str, tmp_path: Path) -> UUID:
    """A deployment that nobody serves, so that only the watch changes its runs."""
    from flows.serve import deployments

    [made] = deployments(location(tmp_path / f"w{uuid4().hex[:8]}.duckdb"), ["evaluate"])
    found: UUID = made.apply()  # type: ignore[assignment]
    return found


def given(api: str, deployment: UUID, state: str, message: str = "") -> str:
    """A run that is in this state although no process does it."""
    run = run_of(api, str(deployment), edition="sample")
    for each in dict.fromkeys(("PENDING", "RUNNING", state)):
        body = {"state": {"type": each, "message": message}, "force": True}
        patient.post(f"{api}/flow_runs/{run}/set_state", json=body).raise_for_status()
    return run


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resuming, "SILENT_SECONDS", 1.5)
    monkeypatch.setattr(resuming, "LOOK_SECONDS", 0.3)


@pytest.mark.usefixtures("hasty")
def test_a_run_that_was_just_heard_of_is_let_alone(
    api: str, deployment: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resuming, "SILENT_SECONDS", 4)
    run = given(api, deployment, "RUNNING")
    time.sleep(4)
    event = {
        "id": str(uuid4()), "event": resuming.HEARTBEAT, "occurred": datetime.now(UTC).isoformat(),
        "resource": {"prefect.resource.id": f"prefect.flow-run.{run}"},
    }  # fmt: skip
    patient.post(f"{api}/events", json=[event]).raise_for_status()
    time.sleep(1.5)  # the server stores events in batches of a second

    async def heard() -> bool:
        from prefect.client.orchestration import get_client

        async with get_client() as client:
            await resuming._mark_silent(client, [deployment], print)
        return bool(state_of(api, run)["type"] == "RUNNING")

    assert asyncio.run(heard())
