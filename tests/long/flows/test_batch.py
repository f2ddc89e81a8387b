"""`evaluate --batch`, stopped and started again, decides what a live run decides, at one price."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import waiting
from tests.conftest import PREFECT_HOME
from tests.flows.llm_runs import ROOT, at_hand, environment, evaluate, rows, value, verdicts
from tests.flows.test_batch import configs
from tests.servers.batches import BatchScript
from tests.servers.gemini import GeminiServer
from tests.servers.openai import OpenAiServer
from tests.waiting import until

__all__ = ["configs"]
AGENT = "sample_sketch"
NEVER = BatchScript(polls=10**6)
SERVERS: dict[str, type[GeminiServer | OpenAiServer]] = {
    "gemini": GeminiServer,
    "openai": OpenAiServer,
}


@contextmanager
def command(path: Path, configs: Path, kind: str) -> Iterator[subprocess.Popen[str]]:
    """`evaluate --batch` as a process (and group) of its own."""
    arguments = ["evaluate", "--edition", "sample", "--judge", kind, "--agent", AGENT, "--batch"]
    process = subprocess.Popen(
        [sys.executable, "-m", "flows", *arguments, "--warehouse", str(path)],
        cwd=ROOT, env=environment(configs, PREFECT_HOME), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        ("gemini", signal.SIGKILL),
        ("openai", signal.SIGINT),
    ],
)
def test_a_batch_run_goes_on_after_it_was_stopped_and_decides_as_a_live_one(
    sample: Path, configs: Path, tmp_path: Path, kind: str, number: signal.Signals
) -> None:
    live, batch = (Path(shutil.copy(sample, tmp_path / name)) for name in ("live.db", "batch.db"))
    with at_hand(SERVERS[kind](), kind):
        evaluate(live, kind, agents=[AGENT])
    server = SERVERS[kind](batches=NEVER)
    with at_hand(server, kind):
        with command(batch, configs, kind) as process:
            until(
                "poll of a batch",
                lambda: any(job.polls for job in server.batches.values()),
                pause=0.05, process=process,
            )  # fmt: skip
            os.kill(process.pid, number)
            process.communicate(timeout=waiting.SECONDS)
        # One job, or on a busy machine two: it waits only so long for more to ask.
        assert {state for (state,) in rows(batch, "SELECT state FROM batch_jobs")} == {"running"}
        server.desk.script = BatchScript()
        assert evaluate(batch, kind, agents=[AGENT], batch=True).name == "Completed"
    assert server.log.n_bought_again == 0
    assert value(batch, "SELECT count(*) FROM calls") == len(server.log.entries)
    assert value(batch, "SELECT count(*) FROM calls WHERE delivery LIKE 'batch%'") > 10
    assert {state for (state,) in rows(batch, "SELECT state FROM batch_jobs")} == {"done"}
    assert verdicts(batch) == verdicts(live)
