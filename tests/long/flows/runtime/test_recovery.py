"""Runs that are killed, left without a word, or must wait: noticed, told, begun again."""

import asyncio
import os
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psutil
import pytest

from flows.runtime import recovery as resuming
from tasks.warehouse.location import parse_location
from tasks.warehouse.store import open_warehouse
from tests import patient, waiting
from tests.processes.deployed_runs import run_of, state_of
from tests.processes.flows.served_flows import deployments_of, served
from tests.waiting import until


@pytest.fixture
def deployment(api: str, tmp_path: Path) -> UUID:
    """A deployment that nobody serves, so that only the watch changes its runs."""
    from flows.deployments import build_deployments

    [made] = build_deployments(
        parse_location(tmp_path / f"w{uuid4().hex[:8]}.duckdb"), ["evaluate"]
    )
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
    monkeypatch.setattr(resuming, "CHECK_SECONDS", 0.3)


def process_of(
    runner: subprocess.Popen[bytes], api: str, run: str
) -> Callable[[], psutil.Process | None]:
    """The process that does a run, once its work has begun."""

    def found() -> psutil.Process | None:
        if state_of(api, run)["type"] != "RUNNING":
            return None
        return next(
            (p for p in psutil.Process(runner.pid).children(recursive=True) if _does(p, run)), None
        )

    return found


def _does(process: psutil.Process, run: str) -> bool:
    try:
        return run in process.environ().get("PREFECT__FLOW_RUN_ID", "")
    except psutil.Error:
        return False


def in_state(api: str, run: str, *types: str) -> Callable[[], Any]:
    def reached() -> Any:
        state = state_of(api, run)
        return state if state["type"] in types else None

    return reached


@pytest.fixture
def warehouse(sample: Path, tmp_path: Path) -> Path:
    path = tmp_path / f"w{uuid4().hex[:8]}.duckdb"
    path.write_bytes(sample.read_bytes())
    return path


def test_a_run_waits_and_says_for_whom_and_one_that_is_killed_goes_on_by_itself(
    api: str, warehouse: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with served(warehouse, ["evaluate"], log) as runner:
        [deployment] = deployments_of(api, warehouse, "evaluate")
        with open_warehouse(warehouse):
            run = run_of(api, deployment["id"], edition="sample")
            waiting = until("Waiting", lambda: (s := state_of(api, run))["name"] == "Waiting" and s)
            assert f"pid {os.getpid()}" in waiting["message"]
            victim = until("process of the run", process_of(runner, api, run))
            victim.kill()
            until("second try", lambda: "restarted" in log.read_text("utf-8"))
        state = until("end of the run", in_state(api, run, "COMPLETED", "FAILED"))
    assert (state["name"], state["message"]) == ("Completed", "sample is evaluated.")
    states = patient.get(f"{api}/flow_run_states/", params={"flow_run_id": run}).json()
    assert [s["name"] for s in states].count("Crashed") == 1


def test_a_killed_run_that_is_left_can_be_retried_from_its_page(
    api: str, warehouse: Path, tmp_path: Path
) -> None:
    with served(warehouse, ["evaluate"], tmp_path / "log", "--resumes", "0") as runner:
        [deployment] = deployments_of(api, warehouse, "evaluate")
        with open_warehouse(warehouse):
            run = run_of(api, deployment["id"], edition="sample")
            until("process of the run", process_of(runner, api, run)).kill()
            crashed = until("crash", in_state(api, run, "CRASHED"))
        assert "-9" in crashed["message"] or "SIGKILL" in crashed["message"]
        time.sleep(2 * resuming.CHECK_SECONDS)
        assert state_of(api, run)["type"] == "CRASHED", "nobody asked for more"
        # What the button Retry does.
        retry = {"state": {"type": "SCHEDULED", "name": "AwaitingRetry"}}
        patient.post(f"{api}/flow_runs/{run}/set_state", json=retry).raise_for_status()
        state = until("end of the run", in_state(api, run, "COMPLETED", "FAILED"))
    assert (state["name"], state["message"]) == ("Completed", "sample is evaluated.")


def test_a_cancel_ends_a_process_whose_server_was_killed_and_begun_again(
    api: str, warehouse: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with open_warehouse(warehouse):
        with served(warehouse, ["evaluate"], log) as runner:
            [deployment] = deployments_of(api, warehouse, "evaluate")
            run = run_of(api, deployment["id"], edition="sample")
            orphan = until("process of the run", process_of(runner, api, run))
            until("Waiting", lambda: state_of(api, run)["name"] == "Waiting")
            runner.kill()
        with served(warehouse, ["evaluate"], log):
            until("second start", lambda: log.read_text("utf-8").count("Served") == 2)
            assert orphan.is_running()
            cancel = {"state": {"type": "CANCELLING"}}
            patient.post(f"{api}/flow_runs/{run}/set_state", json=cancel).raise_for_status()
            until("Cancelled", in_state(api, run, "CANCELLED"))
            assert not orphan.is_running() or orphan.status() == psutil.STATUS_ZOMBIE


def watched(
    deployment: UUID, seconds: float, most: int = 5, awaited: str | None = None
) -> list[str]:
    """What the watch says within some seconds, after it has said what is awaited."""
    said: list[str] = []

    async def watch() -> None:
        watching = asyncio.create_task(resuming.watch_runs([deployment], most, said.append))
        deadline = time.monotonic() + waiting.SECONDS
        while awaited and not any(awaited in line for line in said):
            assert time.monotonic() < deadline, f"{awaited!r} was never said, but {said}"
            await asyncio.sleep(0.1)
        await asyncio.sleep(seconds)
        watching.cancel()

    asyncio.run(watch())
    return said


@pytest.mark.usefixtures("hasty")
def test_a_run_of_which_nothing_is_heard_is_crashed_and_begun_again(
    api: str, deployment: UUID
) -> None:
    run = given(api, deployment, "RUNNING")
    said = watched(deployment, 0, awaited="restarted")
    assert any("No heartbeat" in line for line in said), said
    assert state_of(api, run)["name"] == "AwaitingRetry"


@pytest.mark.usefixtures("hasty")
def test_a_run_that_crashed_often_is_left_and_told_once(api: str, deployment: UUID) -> None:
    run = given(api, deployment, "CRASHED", "exited with -9")
    assert watched(deployment, 2, most=0) == []
    watched(deployment, 2, most=1, awaited="exited with -9")
    for _ in range(2):  # tried twice more, and ended each time
        for each in ("RUNNING", "CRASHED"):
            body = {"state": {"type": each}, "force": True}
            patient.post(f"{api}/flow_runs/{run}/set_state", json=body).raise_for_status()
    said = watched(deployment, 2, most=1, awaited="is not restarted")
    assert sum("is not restarted" in line for line in said) == 1
    assert state_of(api, run)["type"] == "CRASHED"


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
            await resuming._mark_silent_runs(client, [deployment], print)
        return bool(state_of(api, run)["type"] == "RUNNING")

    assert asyncio.run(heard())
