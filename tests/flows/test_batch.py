"""`evaluate --batch`, killed and started again, decides what a live run decides, at one price."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tasks.importing import import_edition
from tasks.warehouse.store import open_warehouse
from tests.conftest import PREFECT_HOME
from tests.flows.llm_runs import (
    ROOT,
    SAMPLE,
    at_hand,
    environment,
    rows,
    value,
    verdicts,
    write_configs,
)
from tests.servers.batches import BatchScript
from tests.servers.gemini import GeminiServer
from tests.servers.openai import OpenAiServer

AGENT = "sample_sketch"
NEVER = BatchScript(polls=10**6)
SERVERS: dict[str, type[GeminiServer | OpenAiServer]] = {
    "gemini": GeminiServer,
    "openai": OpenAiServer,
}


def imported(path: Path) -> Path:
    """The sample edition, nothing of it judged."""
    with open_warehouse(path) as warehouse:
        import_edition(warehouse, SAMPLE, "sample")
    return path


@contextmanager
def command(path: Path, configs: Path, kind: str, *more: str) -> Iterator[subprocess.Popen[str]]:
    """`evaluate` as a process (and group) of its own."""
    settings = environment(configs, PREFECT_HOME, EVERGREEN_WAREHOUSE=str(path))
    arguments = ["evaluate", "--edition", "sample", "--judge", kind, "--agent", AGENT, *more]
    process = subprocess.Popen(
        [sys.executable, "-m", "flows", *arguments], cwd=ROOT, env=settings, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def finished(path: Path, configs: Path, kind: str, *more: str) -> str:
    with command(path, configs, kind, *more) as process:
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 0, said
    return said


def wait_until(condition: Callable[[], object], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "number"), [("gemini", signal.SIGKILL), ("openai", signal.SIGINT)]
)
def test_a_batch_run_goes_on_after_it_was_stopped_and_decides_as_a_live_one(
    tmp_path: Path, kind: str, number: signal.Signals
) -> None:
    configs = write_configs(tmp_path, batch_api=True)
    live, batch = imported(tmp_path / "live.duckdb"), imported(tmp_path / "b.duckdb")
    with at_hand(SERVERS[kind](), kind):
        finished(live, configs, kind)
    server = SERVERS[kind](batches=NEVER)
    with at_hand(server, kind):
        with command(batch, configs, kind, "--batch") as process:
            wait_until(lambda: any(job.polls for job in server.batches.values()), process)
            os.kill(process.pid, number)
            process.communicate(timeout=20)
        [(state,)] = rows(batch, "SELECT state FROM batch_jobs")
        assert state == "running"
        server.desk.script = BatchScript()
        said = finished(batch, configs, kind, "--batch")
    assert "of an earlier run is resumed" in said
    assert server.log.n_bought_again == 0
    assert value(batch, "SELECT count(*) FROM calls") == len(server.log.entries)
    assert value(batch, "SELECT count(*) FROM calls WHERE delivery LIKE 'batch%'") > 10
    assert {state for (state,) in rows(batch, "SELECT state FROM batch_jobs")} == {"done"}
    assert verdicts(batch) == verdicts(live)


def test_a_judge_that_calls_no_model_has_no_batches(tmp_path: Path) -> None:
    path = imported(tmp_path / "w.duckdb")
    with command(path, write_configs(tmp_path), "offline", "--batch") as process:
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "offline calls no model" in said


def test_an_endpoint_without_batches_says_how_to_ask_it(tmp_path: Path) -> None:
    path = imported(tmp_path / "w.duckdb")
    configs = write_configs(tmp_path)
    with command(path, configs, "local", "--batch") as process:
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "batch_api: true" in " ".join(said.split())
