"""One Prefect server for all tests of flows, and the command in this process."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from flows.server import local_server
from tests.conftest import PREFECT_HOME
from tests.flows.asked_runs import agents_of, write_agents
from tests.flows.llm_runs import prepared_sample
from tests.flows.months import small_world
from tests.rigs.month_world import World

Said = tuple[int, str, str]
Evergreen = Callable[..., Said]


@pytest.fixture(scope="session")
def api() -> Iterator[str]:
    with local_server(PREFECT_HOME) as url:
        yield url


@pytest.fixture(scope="session")
def sample(api: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample edition with all that comes before an LLM judge; to be copied. The workers of
    one run share it: it takes half a minute to make."""
    folder = PREFECT_HOME / "sample"
    folder.mkdir(exist_ok=True)
    with FileLock(folder / "lock"):
        done = folder / "path"
        if not done.exists():
            done.write_text(str(prepared_sample(folder)), "utf-8")
        return Path(done.read_text("utf-8"))


@pytest.fixture(scope="module")
def agent_configs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Configuration with an agent for each job server; this process and its own read it."""
    written = write_agents(tmp_path_factory.mktemp("agents"))
    with agents_of(written):
        yield written


@pytest.fixture(scope="module")
def outside(api: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """What a month of this process meets: a wiki, agents, cited pages; `renew` it for each test."""
    with small_world(tmp_path_factory.mktemp("month")) as found:
        yield found


@pytest.fixture
def evergreen(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Evergreen:
    """The command in this process: exit code, answers, remarks."""
    from flows.cli import main
    from flows.console import QUIET, REMARKS

    monkeypatch.setattr(REMARKS, "quiet", False)  # and so again afterwards, whoever asks for quiet
    monkeypatch.setenv(QUIET, "0")
    monkeypatch.setenv("EVERGREEN_PREFECT_HOME", str(PREFECT_HOME))
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments: str | Path) -> Said:
        monkeypatch.setattr(sys, "argv", ["evergreen", *map(str, arguments)])
        code: Any = 0
        capfd.readouterr()
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
        said = capfd.readouterr()
        return code, said.out, said.err

    return call
