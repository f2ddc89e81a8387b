"""What died with a run is closed in the history, and nothing else is."""

import asyncio
import os
import shutil
import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from prefect import flow, task
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from prefect.states import Cancelled, Cancelling, Crashed, Running

from flows import engine
from flows.deployments import build_deployments
from flows.runtime import recovery
from flows.runtime.recovery import SHUT_DOWN, close_dead_runs, watch_runs
from flows.runtime.run_locks import hold_run, is_held, list_runs
from tasks.warehouse.location import parse_location
from tests import patient
from tests.conftest import PREFECT_HOME
from tests.flows.llm_runs import at_hand, configured, value, write_configs
from tests.processes.deployed_runs import run_of, state_of
from tests.processes.flows.test_kills import kill, start
from tests.servers.gemini import GeminiServer
from tests.waiting import until


@task
def work() -> None: ...


@flow
def part() -> None: ...


@flow
def whole() -> None: ...


@pytest.fixture
def deployment(api: str, tmp_path: Path) -> UUID:
    """A deployment that nobody serves, so that only the test changes its runs."""
    warehouse = parse_location(tmp_path / f"{tmp_path.name}.duckdb")
    [made] = build_deployments(warehouse, ["evaluate"])
    found: UUID = made.apply()  # type: ignore[assignment]
    return found


async def begun(run: UUID | None = None) -> tuple[UUID, list[tuple[str, UUID]]]:
    """A run, or a new one of a command, that was at a task and at a subflow with a task of its own;
    with these three."""
    async with get_client() as client:
        if run is None:
            run = (await client.create_flow_run(whole, state=Running())).id
        tasks = [await client.create_task_run(work, run, key, state=Running()) for key in "ab"]
        below = await client.create_flow_run(part, parent_task_run_id=tasks[1].id, state=Running())
        deep = await client.create_task_run(work, below.id, "c", state=Running())
    return run, [("task_runs", tasks[0].id), ("flow_runs", below.id), ("task_runs", deep.id)]


def types(api: str, parts: list[tuple[str, UUID]]) -> set[str]:
    return {patient.get(f"{api}/{kind}/{each}").json()["state"]["type"] for kind, each in parts}


def logged(api: str, run: str) -> list[str]:
    asked = {"logs": {"flow_run_id": {"any_": [run]}}}
    return [str(line["message"]) for line in patient.post(f"{api}/logs/filter", json=asked).json()]


def moved(run: str, state: State[Any]) -> None:
    async def move() -> None:
        async with get_client() as client:
            await client.set_flow_run_state(UUID(run), state, force=True)

    asyncio.run(move())


def watched(deployment: UUID, seen: Any) -> list[str]:
    """What the watch says until that is seen."""
    said: list[str] = []

    async def watch() -> None:
        watching = asyncio.create_task(watch_runs([deployment], 5, said.append))
        await asyncio.to_thread(until, "what is awaited", seen)
        watching.cancel()

    asyncio.run(watch())
    return said


def left_by_a_killed_process(run: UUID) -> None:
    with hold_run(uuid4()):
        (PREFECT_HOME / "runs" / f"{run}.lock").write_text("1 elsewhere", "utf-8")


def test_a_killed_command_is_closed_by_the_next_with_all_that_died_with_it(api: str) -> None:
    killed, parts = asyncio.run(begun())
    alive, others = asyncio.run(begun())
    elsewhere, theirs = asyncio.run(begun())  # its lock file is in another home
    left_by_a_killed_process(killed)
    said: list[str] = []
    with hold_run(alive):
        asyncio.run(close_dead_runs(said.append))
    assert state_of(api, str(killed))["message"] == recovery.KILLED
    assert types(api, [("flow_runs", killed), *parts]) == {"CRASHED"}
    unharmed = [("flow_runs", alive), ("flow_runs", elsewhere), *others, *theirs]
    assert types(api, unharmed) == {"RUNNING"}
    assert all("was killed; its run is closed as crashed" in line for line in said)
    assert killed not in list_runs(held=False)


def test_a_command_that_is_killed_amid_its_work_leaves_nothing_running(
    api: str, sample: Path, tmp_path: Path
) -> None:
    configs = write_configs(tmp_path, timeout_seconds=60)
    path = Path(shutil.copy(sample, tmp_path / "killed.duckdb"))
    server = GeminiServer(delay_seconds=0.3)
    with configured(configs), at_hand(server, "gemini"):
        kill(
            path, configs, "evaluate", "--judge", "gemini", "--protocol", "research_gym",
            "--agent", "sample_sketch", when=lambda: len(server.log.answered()) > 5,
        )  # fmt: skip
    run = run_over(api, path)
    asyncio.run(close_dead_runs(print))
    until("end of the run", lambda: state_of(api, run)["type"] == "CRASHED")
    asked = {
        "flow_runs": {"parent_flow_run_id": {"any_": [run]}},
        "task_runs": {"state": {"type": {"any_": ["RUNNING", "PENDING"]}}},
    }
    assert patient.post(f"{api}/task_runs/filter", json=asked).json() == []


def run_over(api: str, warehouse: Path) -> str:
    """The run of `evaluate` over this warehouse."""
    asked = {"flows": {"name": {"any_": ["evaluate"]}}}
    found = patient.post(f"{api}/flow_runs/filter", json=asked).json()
    of_this = parse_location(warehouse).url
    [run] = [str(each["id"]) for each in found if each["parameters"]["warehouse"] == of_this]
    return run


def test_a_cancel_in_the_ui_ends_a_command_and_keeps_what_it_has_bought(
    api: str, sample: Path, tmp_path: Path
) -> None:
    configs = write_configs(tmp_path, timeout_seconds=60)
    path = Path(shutil.copy(sample, tmp_path / "cancelled.duckdb"))
    server = GeminiServer(delay_seconds=0.3)
    with configured(configs), at_hand(server, "gemini"):
        command = start(
            path, configs, "evaluate", "--judge", "gemini", "--protocol", "research_gym",
            "--agent", "sample_sketch",
        )  # fmt: skip
        until("answers", lambda: len(server.log.answered()) > 5)
        run = run_over(api, path)
        moved(run, Cancelling())
        said, _ = command.communicate(timeout=60)
    assert command.returncode == 1
    assert "Cancelled in the Prefect UI. Committed work is kept" in said
    assert state_of(api, run)["type"] == "CANCELLED"
    assert value(path, "SELECT count(*) FROM calls") == len(server.log.answered())


def test_a_killed_served_run_is_left_to_those_who_serve_it(api: str, deployment: UUID) -> None:
    run = run_of(api, str(deployment), edition="sample")
    moved(run, Running())
    left_by_a_killed_process(UUID(run))
    asyncio.run(close_dead_runs(print))
    assert state_of(api, run)["type"] == "RUNNING"


def test_a_served_run_that_goes_on_has_closed_what_died_and_says_when_it_crashed(
    api: str, deployment: UUID
) -> None:
    run = run_of(api, str(deployment), edition="sample")
    moved(run, Running())
    _, parts = asyncio.run(begun(UUID(run)))
    moved(run, Crashed(message="Its process was killed."))
    crashed = datetime.fromisoformat(state_of(api, run)["timestamp"])
    watched(deployment, lambda: state_of(api, run)["name"] == "AwaitingRetry")
    assert types(api, parts) == {"CRASHED"}
    [line] = logged(api, run)
    assert f"Crashed at {crashed:%Y-%m-%d %H:%M:%S} UTC: Its process was killed." in line
    assert "goes on with all that is in the warehouse (restart 1 of at most 5)" in line


def test_a_run_that_ends_with_who_serves_it_goes_on_and_one_that_a_person_cancels_does_not(
    api: str, deployment: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "CHECK_SECONDS", 0.2)
    person, *served = [run_of(api, str(deployment), edition="sample") for _ in range(3)]
    for run in served:
        moved(run, Running())
    moved(served[0], Crashed(message="SIGTERM"))
    for run, message in ((person, "Flow run was cancelled."), *((s, SHUT_DOWN) for s in served)):
        moved(run, Cancelled(message=message))
    watched(
        deployment, lambda: all(state_of(api, run)["name"] == "AwaitingRetry" for run in served)
    )
    assert state_of(api, person)["type"] == "CANCELLED"


def test_a_crashed_run_whose_process_lives_is_not_begun_beside_it(
    api: str, deployment: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "CHECK_SECONDS", 0.2)
    runs = [run_of(api, str(deployment), edition="sample") for _ in range(2)]
    for run in runs:
        moved(run, Crashed())
    with hold_run(UUID(runs[0])):
        watched(deployment, lambda: state_of(api, runs[1])["name"] == "AwaitingRetry")
        assert state_of(api, runs[0])["type"] == "CRASHED"


def test_a_cancel_ends_the_process_that_works_and_leaves_one_of_another_host_to_that(
    api: str, deployment: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [run_of(api, str(deployment), edition="sample") for _ in range(3)]
    here, elsewhere, gone = map(UUID, runs)
    ended: list[UUID] = []

    def kill(run: UUID) -> bool:
        ended.extend([run] if is_held(run) else [])
        return is_held(run)

    async def is_heard_of(_: object, run: UUID, __: object) -> bool:
        return run == elsewhere

    monkeypatch.setattr(recovery, "kill_run", kill)
    monkeypatch.setattr(recovery, "_has_heartbeat", is_heard_of)
    monkeypatch.setattr(recovery, "CANCEL_SECONDS", 0)
    for run in runs:
        moved(run, Running())
        moved(run, Cancelling())
    with hold_run(here):
        watched(
            deployment,
            lambda: all(state_of(api, str(each))["type"] == "CANCELLED" for each in (here, gone)),
        )
    assert ended == [here]
    assert [state_of(api, run)["type"] for run in runs] == ["CANCELLED", "CANCELLING", "CANCELLED"]


def test_a_process_that_comes_second_leaves_the_run_to_the_first(
    api: str, deployment: UUID
) -> None:
    run = run_of(api, str(deployment), edition="sample")
    with hold_run(UUID(run)):
        second = subprocess.run(
            engine.COMMAND, env={**os.environ, "PREFECT__FLOW_RUN_ID": run}, check=False
        )
        assert second.returncode == 0
        assert is_held(UUID(run))
    state = state_of(api, run)
    assert (state["type"], f"Process {os.getpid()}" in state["message"]) == ("RUNNING", True)
