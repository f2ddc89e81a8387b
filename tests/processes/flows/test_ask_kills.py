"""`kill -9` between every two steps of a job: no report is bought twice, none is lost."""

import os
import shutil
import signal
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tasks.jobs.resolve import set_remote_id
from tasks.warehouse.store import open_warehouse
from tests.flows.asked_runs import KEY, KINDS, URL, askable, serving_agent
from tests.flows.llm_runs import rows, value
from tests.rigs.asking_process import asking_process
from tests.servers.jobs import Job, JobScript

STATE = "SELECT state FROM jobs ORDER BY turn DESC LIMIT 1"


@pytest.fixture(scope="module")
def single(sample: Path, agent_configs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample edition with one article's prompt: one report is missing."""
    path = askable(sample, tmp_path_factory.mktemp("single"))
    with duckdb.connect(str(path)) as connection:
        first = "(SELECT min(assignment) FROM assignments)"
        connection.execute(f"UPDATE assignments SET prompt = NULL WHERE assignment <> {first}")
    return path


def process(path: Path, agent: str, kill: tuple[str, int] | None = None) -> ForkServerProcess:
    environment = {name: os.environ[name] for name in (URL, KEY, "EVERGREEN_CONFIGS")}
    return asking_process(path, agent, environment, kill)


def run(path: Path, agent: str, kill: tuple[str, int] | None = None) -> int:
    asked = process(path, agent, kill)
    asked.join(timeout=120)
    assert asked.exitcode in (0, -signal.SIGKILL)
    return asked.exitcode or 0


def brought(path: Path, agent: str) -> int:
    found: int = value(path, f"SELECT count(*) FROM reports WHERE agent = '{agent}'")
    return found


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("agent", sorted(KINDS))
def test_no_commit_of_a_job_is_a_bad_moment_to_die(
    single: Path, tmp_path: Path, agent: str, when: str
) -> None:
    died = True
    nth = 0
    while died:
        nth += 1
        path = tmp_path / f"{when}{nth}.duckdb"
        shutil.copy(single, path)
        server: Any = KINDS[agent][1](JobScript(polls=2))
        with serving_agent(server, agent):
            died = run(path, agent, (when, nth)) != 0
            assert run(path, agent) == 0
            # The one step that nobody can see: sent, and died before the id was kept.
            unseen = died and (when, nth) in (("after", 1), ("before", 2))
            if unseen:
                assert rows(path, STATE) == [("lost",)]
                assert server.n_made == (when == "before")
                assert run(path, agent) == 0
            else:
                assert (brought(path, agent), server.n_made) == (1, 1), f"{when}:{nth}"
                assert rows(path, STATE) == [("done",)]
        assert server.n_made <= 1
    assert nth >= 5  # sending, running, looks, answered, done: all were tried


@pytest.mark.parametrize("agent", sorted(KINDS))
def test_nor_is_any_moment_at_the_provider(single: Path, tmp_path: Path, agent: str) -> None:
    asked: list[ForkServerProcess] = []

    def kill(job: Job) -> None:
        os.kill(asked[-1].pid or 0, signal.SIGKILL)

    for moment in ("on_create", "on_look"):
        path = tmp_path / f"{moment}.duckdb"
        shutil.copy(single, path)
        hooks: dict[str, Any] = {moment: kill}
        server: Any = KINDS[agent][1](JobScript(polls=2), **hooks)
        with serving_agent(server, agent):
            asked.append(process(path, agent))
            asked[-1].join(timeout=120)
            assert asked[-1].exitcode == -signal.SIGKILL
            server._on_create = server._on_look = None
            assert run(path, agent) == 0
        assert server.n_made == 1
        assert rows(path, STATE) == [("lost" if moment == "on_create" else "done",)]
        if moment == "on_create":  # it was bought: a person finds it, and it is not lost
            (job,) = server.jobs.values()
            name = value(path, "SELECT job FROM jobs")
            with open_warehouse(path) as warehouse:
                set_remote_id(warehouse, name, job.job_id)
            with serving_agent(server, agent):
                assert run(path, agent) == 0
        assert (brought(path, agent), server.n_made) == (1, 1)
