"""`kill -9` of commands amid their work leaves what they go on from.

tests/guarantees/flows/test_kill_points.py does so from copies that are made at every commit.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.conftest import PREFECT_HOME
from tests.flows.asked_runs import ask, askable, serving_agent
from tests.flows.fetched_runs import citing, fetch, serving_pages
from tests.flows.kill_points import tables_of
from tests.flows.llm_runs import (
    ROOT,
    at_hand,
    configured,
    environment,
    evaluate,
    rows,
    value,
    write_configs,
)
from tests.flows.plain_prefect import plain_prefect
from tests.guarantees.flows.test_kill_points import Pages, kept_pages, page_files
from tests.servers.gemini import GeminiServer
from tests.servers.job_gemini import GeminiJobs
from tests.servers.jobs import JobScript
from tests.tasks.annotated import ARTICLE
from tests.waiting import until

NEVER = JobScript(polls=10**6)
N_PAGES, AT_ONCE = 40, 4


@pytest.fixture(autouse=True)
def plain() -> Iterator[None]:
    """What is killed is a command; what goes on from it needs no server."""
    with plain_prefect():
        yield


def start(path: Path, configs: Path, *command: str) -> subprocess.Popen[str]:
    """Start a command on the sample edition, in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "flows", *command, "--edition", "sample", "--warehouse", str(path)],
        cwd=ROOT, env=environment(configs, PREFECT_HOME), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip


def kill(path: Path, configs: Path, *command: str, when: Callable[[], object]) -> None:
    """Start a command on the sample edition, and kill it when that is so."""
    process = start(path, configs, *command)
    until("moment for the kill", when, pause=0.01, process=process)
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


def test_judging_goes_on_and_asks_again_only_for_what_was_under_way(
    sample: Path, tmp_path: Path
) -> None:
    calm, path = (Path(shutil.copy(sample, tmp_path / name)) for name in ("calm.db", "killed.db"))
    configs = write_configs(tmp_path, timeout_seconds=60)
    judge = partial(
        evaluate, judge_name="gemini", protocols=["research_gym"], agents=["sample_sketch"]
    )
    with configured(configs), at_hand(GeminiServer(), "gemini"):
        assert judge(calm).name == "Completed"
    server = GeminiServer(delay_seconds=0.3)
    with configured(configs), at_hand(server, "gemini"):
        kill(
            path, configs, "evaluate", "--judge", "gemini", "--protocol", "research_gym",
            "--agent", "sample_sketch", when=lambda: len(server.log.answered()) > 20,
        )  # fmt: skip
        kept, asked = value(path, "SELECT count(*) FROM calls"), len(server.log.entries)
        assert kept > 0
        server.delay_seconds = 0
        assert judge(path).name == "Completed"
    assert len(server.log.entries) - asked == value(calm, "SELECT count(*) FROM calls") - kept
    assert tables_of(path) == tables_of(calm)


def test_a_report_under_way_at_its_provider_comes_and_is_not_bought_again(
    sample: Path, agent_configs: Path, tmp_path: Path
) -> None:
    path, server = askable(sample, tmp_path), GeminiJobs(NEVER)
    with serving_agent(server, "gemini"):
        kill(path, agent_configs, "ask", "--agent", "gemini", "--assignment", ARTICLE,
             when=lambda: server.n_looks)  # fmt: skip
        assert rows(path, "SELECT state FROM jobs") == [("running",)]
        server.script = JobScript()
        assert ask(path, "gemini", assignments=[ARTICLE]).name == "Completed"
    assert server.n_made == value(path, "SELECT count(*) FROM reports WHERE agent = 'gemini'") == 1


def test_pages_that_have_come_are_not_asked_for_again_and_none_is_half_there(
    sample: Path, tmp_path: Path
) -> None:
    server = Pages(slow=0.2)
    with serving_pages(tmp_path, server, per_host=AT_ONCE) as address:
        cited = [(f"The tower of {n} was lit.", f"{address}/{n}") for n in range(N_PAGES)]
        path = citing(sample, tmp_path, *cited)
        kill(path, tmp_path / "configs", "fetch", when=lambda: server.asked.total() > N_PAGES / 2)
        kept = kept_pages(path, address)
        before, server.slow = server.asked.copy(), 0.0
        assert fetch(path).name == "Completed"
        again = {target for target in before if server.asked[target] > before[target]}
    assert 0 < len(kept) < N_PAGES
    assert not again & kept
    assert len(again) <= AT_ONCE
    assert len(page_files(path)) == N_PAGES
