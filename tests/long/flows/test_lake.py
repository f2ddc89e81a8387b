"""Several processes evaluate one edition in one DuckLake: each cell once, also where one is
killed."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tasks.imports.wlc import import_edition
from tasks.warehouse.location import LocationLike
from tasks.warehouse.rows import Row
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.tables import TABLES
from tests import patient, waiting
from tests.conftest import PREFECT_HOME
from tests.flows.llm_runs import SAMPLE, at_hand, configured, environment, evaluate, write_configs
from tests.lakes import NEEDS_POSTGRES
from tests.processes.deployed_runs import run_of, state_of
from tests.rigs.postgres import RunningPostgres
from tests.servers.openai import OpenAiServer
from tests.waiting import until

pytestmark = NEEDS_POSTGRES
MADE_AT = {"imported_at", "finished_at", "called_at", "fetched_at"}
OF_THE_RUN = {"calls"}
"""How long a question took differs from run to run."""
DELAY = 0.3
SLOW_SECONDS = 4.0
"""For an answer: so long that whoever comes first has not begun every cell when the other comes."""


class Worker(NamedTuple):
    process: "subprocess.Popen[bytes]"
    log: Path


@pytest.fixture(scope="module")
def configs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = write_configs(
        tmp_path_factory.mktemp("lake"), limits={"concurrency": 4}, timeout_seconds=60
    )
    with configured(folder):
        yield folder


def prepared(where: LocationLike) -> LocationLike:
    """The sample edition with claims and style figures, ready for a judge that calls a model."""
    with open_warehouse(where) as warehouse:
        import_edition(warehouse, SAMPLE, "sample")
        state = evaluate(str(where), "offline", protocols=["wiki_fact"])  # type: ignore[arg-type]
    assert state.name == "Completed", state.message
    return where


def lake(postgres: RunningPostgres, folder: Path) -> str:
    return f"ducklake:postgres:{postgres.create(folder.name)}?files={folder}"


def contents(where: LocationLike) -> dict[str, list[tuple[object, ...]]]:
    """Every table's rows, sorted, without the columns that say when a row was made."""

    def kept(model: type[Row]) -> str:
        return ", ".join(f'"{name}"' for name in model.model_fields if name not in MADE_AT)

    with open_warehouse(where) as warehouse:
        return {
            model.table: warehouse.frame(
                f"SELECT {kept(model)} FROM {model.table} ORDER BY ALL"
            ).rows()
            for model in TABLES
            if model.table not in OF_THE_RUN
        }


def calls(where: LocationLike) -> tuple[int, int]:
    """Calls in the ledger, and of how many requests."""
    with open_warehouse(where) as warehouse:
        found = warehouse.frame("SELECT count(*), count(DISTINCT request_id) FROM calls").row(0)
    return int(found[0]), int(found[1])


def n_cells(where: LocationLike, judge: str) -> int:
    with open_warehouse(where) as warehouse:
        return int(warehouse.value("SELECT count(*) FROM cells WHERE judge = $1", [judge]))


def workers(where: str, configs: Path, folder: Path) -> list[Worker]:
    """Processes that evaluate the same edition; what keeps them apart is the lake alone."""
    found = []
    for number in range(2):
        log = folder / f"worker{number}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "flows", "evaluate", "--edition", "sample", "--judge",
                 "openai", "--warehouse", where],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env=environment(configs, PREFECT_HOME),
            )  # fmt: skip
        found.append(Worker(process, log))
    return found


def shares(api: str, runs: Sequence[str]) -> list[int]:
    """Cells that each of these runs has judged, by its history."""
    asked: dict[str, Any] = {"flow_runs": {"parent_flow_run_id": {"any_": list(runs)}}}
    parts = patient.post(f"{api}/flow_runs/filter", json=asked).json()
    verdicts = [part["id"] for part in parts if part["name"].startswith("verdicts")]
    asked = {"flow_runs": {"id": {"any_": verdicts}}}
    found = patient.post(f"{api}/task_runs/filter", json=asked).json()
    judged = [run["flow_run_id"] for run in found]
    return sorted(Counter(judged).values())


@contextmanager
def pooled(where: str, configs: Path, folder: Path) -> Iterator[list[Worker]]:
    """Two hosts' `evergreen serve` that take runs, one at a time, from one work pool."""
    both = []
    for number in range(2):
        log = folder / f"host{number}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "flows", "serve", "--only", "evaluate", "--pool",
                 folder.name, "--at-once", "1", "--warehouse", where],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env=environment(configs, PREFECT_HOME), start_new_session=True,
            )  # fmt: skip
        both.append(Worker(process, log))
    try:
        yield both
    finally:
        for worker in both:
            os.killpg(worker.process.pid, signal.SIGKILL)
            worker.process.wait()


def has_stopped(api: str, runs: Sequence[str], hosts: Sequence[Worker]) -> bool:
    """Whether a run has ended, or a host."""
    return any(ended_state(api, run) for run in runs) or any(
        host.process.poll() is not None for host in hosts
    )


def describe(api: str, runs: Sequence[str], hosts: Sequence[Worker]) -> str:
    """What the runs' states are, and what their hosts printed."""
    states = [str(state_of(api, run)) for run in runs]
    logs = [f"exit {host.process.poll()}: {host.log.read_text('utf-8')}" for host in hosts]
    return "\n".join(states + logs)


def ended_state(api: str, run: str) -> Any:
    state = state_of(api, run)
    return state if state["type"] in ("COMPLETED", "FAILED", "CRASHED") else None


def ended(processes: Sequence[Worker]) -> list[int]:
    deadline = time.monotonic() + waiting.SECONDS
    try:
        return [worker.process.wait(deadline - time.monotonic()) for worker in processes]
    finally:
        for worker in processes:
            worker.process.kill()
            worker.process.wait()


@pytest.fixture(scope="module")
def alone(
    api: str, configs: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[LocationLike, dict[str, list[tuple[object, ...]]], int]:
    """One process on a DuckDB file: where, what it made, and how many questions the model had."""
    where = prepared(tmp_path_factory.mktemp("alone") / "warehouse.duckdb")
    server = OpenAiServer()
    with at_hand(server, "openai"):
        state = evaluate(where, "openai")  # type: ignore[arg-type]
    assert state.name == "Completed", state.message
    return where, contents(where), len(server.log.entries)


def test_two_workers_of_a_pool_make_the_tables_of_one_and_buy_no_answer_twice(
    alone: tuple[LocationLike, dict[str, list[tuple[object, ...]]], int],
    postgres: RunningPostgres,
    api: str,
    configs: Path,
    tmp_path: Path,
) -> None:
    where = str(prepared(lake(postgres, tmp_path)))
    server = OpenAiServer(delay_seconds=SLOW_SECONDS)
    with at_hand(server, "openai"), pooled(where, configs, tmp_path) as both:
        ready = "two workers", lambda: all("Ctrl-C" in w.log.read_text("utf-8") for w in both)
        until(*ready)
        asked = {"deployments": {"name": {"any_": [f"judge-reports-{tmp_path.name}"]}}}
        [deployment] = patient.post(f"{api}/deployments/filter", json=asked).json()
        assert deployment["work_pool_name"] == tmp_path.name
        runs = [
            run_of(api, deployment["id"], edition="sample", judge="openai", budget_usd=9)
            for _ in both
        ]
        until(
            "cell that each judges",
            lambda: len(shares(api, runs)) == 2 or has_stopped(api, runs, both),
            detail=partial(describe, api, runs, both),
        )
        assert len(shares(api, runs)) == 2, describe(api, runs, both)
        server.delay_seconds = 0
        states = [until("end of a run", partial(ended_state, api, run)) for run in runs]
    assert [state["name"] for state in states] == ["Completed"] * 2, states
    made = contents(where)
    assert {name: rows for name, rows in made.items() if rows != alone[1][name]} == {}
    assert len(server.log.entries) == alone[2]
    assert calls(where) == calls(alone[0])
    assert sum(shares(api, runs)) == n_cells(alone[0], "openai")


def test_what_a_killed_worker_was_at_is_finished_by_the_other(
    alone: tuple[LocationLike, dict[str, list[tuple[object, ...]]], int],
    postgres: RunningPostgres,
    configs: Path,
    tmp_path: Path,
) -> None:
    where = str(prepared(lake(postgres, tmp_path)))
    server = OpenAiServer(delay_seconds=DELAY)
    with at_hand(server, "openai"):
        both = workers(where, configs, tmp_path)
        victim, other = both
        while len(server.log.entries) < alone[2] // 3 and victim.process.poll() is None:
            time.sleep(0.02)
        os.kill(victim.process.pid, signal.SIGKILL)
        os.kill(other.process.pid, signal.SIGSTOP)  # while what was under way is counted
        open_then = len(server.log.entries) - calls(where)[0]
        os.kill(other.process.pid, signal.SIGCONT)
        codes = ended(both)
    assert codes == [-signal.SIGKILL, 0], other.log.read_text("utf-8")[-2000:]
    made = contents(where)
    assert {name: rows for name, rows in made.items() if rows != alone[1][name]} == {}
    assert calls(where) == calls(alone[0])
    assert alone[2] <= len(server.log.entries) <= alone[2] + open_then
