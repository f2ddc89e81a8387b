"""A real server, real flows in processes of their own, and the ways in which both can die."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from flows.runtime.login import read_password
from flows.runtime.server import stop_process
from flows.runtime.server_record import ServerRecord, is_served, read_log_tail, read_record
from tests import patient, waiting
from tests.flows.runtime.test_server import ROOT
from tests.waiting import until

AUTH = "PREFECT_API_AUTH_STRING"


def script(home: Path, body: str) -> list[str]:
    """A command that does what `evergreen` does first, then `body` with `home` at hand."""
    start = f"""
        import os, sys, time
        from pathlib import Path
        sys.path.insert(0, {str(ROOT)!r})
        from flows.runtime.settings import prefect_environment
        from flows.runtime.server import local_server
        from flows.runtime.server_record import read_record
        home = Path({str(home)!r})
        os.environ.update(prefect_environment(home))
    """
    return [sys.executable, "-c", textwrap.dedent(start) + textwrap.dedent(body)]


FLOW = """
    from uuid import UUID
    with local_server(home) as api_url:
        import asyncio
        from prefect import flow, task
        from prefect.cache_policies import NO_CACHE
        from flows.runtime.history import wait_until_stored

        @task(cache_policy=NO_CACHE)
        async def cell(number):
            if number == 7:
                raise ValueError("seven")

        @flow(log_prints=True)
        async def stage():
            print("a line of log")
            await asyncio.gather(*(cell(n) for n in range(40)), return_exceptions=True)

        @flow
        async def run():
            await stage()
            await cell(100)

        state = asyncio.run(run(return_state=True))
        run_id = state.state_details.flow_run_id
        stored = wait_until_stored(api_url, run_id, 41)
        print(stored.model_dump_json())
        print(run_id)
        os.kill(read_record(home).pid, 9)
"""


class Finished(NamedTuple):
    """A run that is over, and so is its server."""

    home: Path
    stored: dict[str, int]
    run_id: str
    noise: str


class Shared(NamedTuple):
    """A server with two users, each of which a test may kill."""

    home: Path
    users: list[subprocess.Popen[bytes]]
    record: ServerRecord


def environment() -> dict[str, str]:
    """This process's environment without any of Prefect's settings."""
    return {key: text for key, text in os.environ.items() if not key.startswith("PREFECT")}


def answers(record: ServerRecord | None) -> bool:
    """Whether the recorded server answers."""
    try:
        return record is not None and httpx.get(f"{record.api_url}/health").is_success
    except httpx.HTTPError:
        return False


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """A flow of 41 task runs with a server of its own, which is killed at the very end."""
    home = tmp_path_factory.mktemp("prefect")
    done = subprocess.run(
        script(home, FLOW),
        check=False,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr + read_log_tail(home)
    stored, run_id = done.stdout.splitlines()
    return Finished(home, json.loads(stored), run_id, done.stderr)


@pytest.fixture
def shared(served: Shared, monkeypatch: pytest.MonkeyPatch) -> Shared:
    """The same home, served again for two processes at once, whose password this one knows."""
    monkeypatch.setenv(AUTH, read_password(served.home))
    return served


@pytest.fixture(scope="session")
def served(finished: Finished) -> Iterator[Shared]:
    home = finished.home
    hold = script(home, "with local_server(home):\n    time.sleep(300)")
    users = [subprocess.Popen(hold, env=environment()) for _ in range(2)]
    try:
        until("answer of the server", lambda: answers(read_record(home)),
              detail=lambda: read_log_tail(home))  # fmt: skip
        record = read_record(home)
        assert record is not None
        yield Shared(home, users, record)
    finally:
        for user in users:
            user.kill()
            user.wait()


def test_the_history_of_a_run_is_complete_when_it_ends(
    finished: Finished,
) -> None:
    assert finished.stored == {"flow_runs": 2, "task_runs": 41, "ended": 41, "expected": 41}


def test_a_run_with_a_failed_task_prints_nothing_of_its_own(finished: Finished) -> None:
    assert finished.noise == ""
    assert read_log_tail(finished.home).endswith("ends:\n")


def test_ctrl_c_in_a_terminal_is_not_for_the_server(shared: Shared) -> None:
    assert os.getsid(shared.record.pid) == shared.record.pid, "a session of its own"


def test_the_history_is_still_there_after_the_server_was_killed_and_started_again(
    finished: Finished,
    shared: Shared,
) -> None:
    api_url = shared.record.api_url
    run = patient.get(f"{api_url}/flow_runs/{finished.run_id}").json()
    assert run["state"]["type"] == "COMPLETED"
    ended = {"state": {"type": {"any_": ["COMPLETED", "FAILED"]}}}
    count = patient.post(f"{api_url}/task_runs/count", json={"task_runs": ended}).json()
    assert count == 41 + 1  # and the subflow's stand-in in its parent
    logs = patient.post(f"{api_url}/logs/filter", json={}).json()
    assert "a line of log" in [line["message"] for line in logs]


def test_the_ui_is_told_to_talk_to_its_own_server_only(
    shared: Shared,
) -> None:
    page = patient.get(shared.record.api_url.removesuffix("/api"), follow_redirects=True)
    assert "<title>Prefect Server</title>" in page.text
    policy = page.headers["content-security-policy"]
    assert policy.startswith(f"default-src 'self' {shared.record.api_url.removesuffix('/api')} ")
    assert "https" not in policy
    settings = patient.get(f"{shared.record.api_url}/admin/settings").json()
    assert settings["server"]["analytics_enabled"] is False
    assert settings["server"]["ui"]["show_promotional_content"] is False


def test_the_login_of_another_server_comes_back_when_ours_is_left(shared: Shared) -> None:
    body = f"""
        with local_server(home):
            print(os.environ[{AUTH!r}] == {os.environ[AUTH]!r})
        print(os.environ[{AUTH!r}])
    """
    joined = subprocess.run(
        script(shared.home, body), check=True, env=environment() | {AUTH: "admin:elsewhere"},
        capture_output=True, text=True, timeout=waiting.SECONDS,
    )  # fmt: skip
    assert joined.stdout.splitlines() == ["True", "admin:elsewhere"]


def test_a_server_joined_by_a_second_process_outlives_the_first_and_dies_with_the_last(
    shared: Shared,
) -> None:
    home, users, record = shared
    users[0].send_signal(signal.SIGINT)
    users[0].wait()
    time.sleep(2)
    assert answers(record)
    users[1].send_signal(signal.SIGKILL)
    users[1].wait()
    until("end of the server", lambda: not answers(record), pause=0.1)
    until("end of its users", lambda: not is_served(home), pause=0.1)
    assert not (home / "server.json").exists()


def test_a_server_that_ignores_the_request_to_end_is_killed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("flows.runtime.server.STOP_SECONDS", 0.2)
    deaf = "import signal; signal.signal(15, signal.SIG_IGN); print(flush=True); signal.pause()"
    server = subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE)
    assert server.stdout is not None
    server.stdout.readline()
    stop_process(server.pid, lambda: server.poll() is not None)
    assert server.returncode == -signal.SIGKILL
