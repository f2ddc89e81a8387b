"""Evaluations killed while a model extracts claims, makes key points or checks them."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.conftest import PREFECT_HOME
from tests.flows.llm_runs import ROOT, at_hand, environment, evaluate, rows, value, verdicts
from tests.guarantees.flows import test_extraction_by_judge as extraction
from tests.guarantees.flows import test_key_points_made as key_points
from tests.servers.gemini import GeminiServer
from tests.tasks.annotated import sample_warehouse
from tests.waiting import until

configs = extraction.configs
AT_ONCE = 16
"""Calls under way at most: as many may be lost by a kill."""


def has_been_asked(server: GeminiServer, times: int) -> bool:
    return len(server.log.entries) >= times


def killed_once(path: Path, configs: Path, protocol: str, reached: Callable[[], bool]) -> None:
    """`evaluate` as a process of its own, killed when that is reached."""
    arguments = ["evaluate", "--edition", "sample", "--judge", "gemini", "--protocol", protocol]
    process = subprocess.Popen(
        [sys.executable, "-m", "flows", *arguments, "--budget", "100", "--warehouse", str(path)],
        cwd=ROOT, env=environment(configs, PREFECT_HOME), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    until("moment for the kill", reached, pause=0.01, process=process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_killed_while_it_extracts_the_next_run_buys_no_extraction_twice(
    configs: Path, tmp_path: Path
) -> None:
    path = sample_warehouse(tmp_path)
    calm = Path(shutil.copy(path, tmp_path / "calm.duckdb"))
    with at_hand(GeminiServer(), "gemini"):
        run = evaluate(calm, "gemini", budget_usd=100.0, **extraction.FACT)
        assert run.name == "Completed"
    server = GeminiServer(delay_seconds=0.3)
    with at_hand(server, "gemini"):
        killed_once(path, configs, "wiki_fact", lambda: len(server.log.answered()) >= 3)
        kept = value(path, extraction.EXTRACTIONS)
        asked = len(server.log.entries)
        run = evaluate(path, "gemini", budget_usd=100.0, **extraction.FACT)
        assert run.name == "Completed"
    assert value(path, extraction.EXTRACTIONS) == 7
    assert sum(server.log.answered().values()) - len(server.log.answered()) <= asked - kept
    outputs = "SELECT agent, assignment, output_sha FROM extractions ORDER BY ALL"
    assert rows(path, outputs) == rows(calm, outputs)


def test_killed_while_points_are_made_and_while_they_are_checked_it_ends_alike(
    sample: Path, configs: Path, tmp_path: Path
) -> None:
    calm, path = (Path(shutil.copy(sample, tmp_path / name)) for name in ("calm.db", "w.db"))
    with at_hand(GeminiServer(), "gemini"):
        assert evaluate(calm, "gemini", protocols=key_points.GYM).name == "Completed"
    server = GeminiServer(delay_seconds=0.3)
    with at_hand(server, "gemini"):
        for n_asked in (2, 5, 40):
            reached = partial(has_been_asked, server, n_asked)
            killed_once(path, configs, "research_gym", reached)
        assert evaluate(path, "gemini", protocols=key_points.GYM).name == "Completed"
    assert rows(path, key_points.MADE) == rows(calm, key_points.MADE)
    assert verdicts(path) == verdicts(calm)
    assert server.log.n_bought_again <= 3 * AT_ONCE
    assert value(path, "SELECT count(*) FROM calls") == value(calm, "SELECT count(*) FROM calls")
