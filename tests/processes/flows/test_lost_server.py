"""A run whose local server is killed ends with one line; the second Ctrl-C ends any process."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.runtime.server_record import read_record
from tests import waiting
from tests.flows.llm_runs import (
    ROOT,
    at_hand,
    configured,
    environment,
    evaluate,
    value,
    write_configs,
)
from tests.servers.base import ModelServer
from tests.servers.openai import OpenAiServer
from tests.waiting import until

HUNG = """
import atexit, signal, sys, threading, time
from flows.runtime.ending import end_at_second_signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's job in the background has none
end_at_second_signal()
atexit.register(time.sleep, 600)
threading.Thread(target=time.sleep, args=(600,)).start()
try:
    print("ready", flush=True)
    time.sleep(600)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.fixture
def configs(tmp_path: Path) -> Iterator[Path]:
    written = write_configs(tmp_path)
    with configured(written):
        yield written


@pytest.fixture
def model() -> Iterator[ModelServer]:
    server = OpenAiServer(delay_seconds=0.5)
    with at_hand(server, "openai"):
        yield server


def test_a_run_without_its_local_server_ends_with_one_line_and_goes_on_at_the_next_command(
    sample: Path, configs: Path, model: ModelServer, tmp_path: Path
) -> None:
    home, path = tmp_path / "prefect", Path(shutil.copy(sample, tmp_path / "warehouse.duckdb"))
    variables = environment(configs, home)
    variables.pop("PREFECT_API_URL", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "flows", "-q", "evaluate", "--edition", "sample", "--judge",
         "openai", "--warehouse", str(path)],
        cwd=ROOT, env=variables, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    until("call", lambda: model.log.entries, pause=0.05, process=process)
    record = read_record(home)
    assert record is not None
    os.kill(record.pid, signal.SIGKILL)
    said, _ = process.communicate(timeout=waiting.SECONDS)
    assert process.returncode == 1
    assert said.startswith("error: The local Prefect server has ended")
    assert said.count("\n") == 1
    assert evaluate(path, "openai").name == "Completed"
    assert model.log.n_bought_again == 0
    assert value(path, "SELECT count(*) FROM calls") == len(model.log.entries)


def test_the_second_ctrl_c_ends_a_process_that_its_threads_hold() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HUNG], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopped\n"
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(waiting.SECONDS) == 130
