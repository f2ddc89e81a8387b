"""One Prefect server for all tests of flows, and the command in this process."""

import shutil
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from flows.server import local_server
from tests.conftest import PREFECT_HOME
from tests.flows import llm_runs
from tests.flows.asked_runs import agents_of, write_agents
from tests.flows.llm_runs import ROOT, prepared_sample
from tests.flows.months import small_world
from tests.rigs.month_world import World

Said = tuple[int, str, str]
Evergreen = Callable[..., Said]


@pytest.fixture(scope="session")
def api() -> Iterator[str]:
    with local_server(PREFECT_HOME) as url:
        yield url


@pytest.fixture(scope="session")
def sample(
    api: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The sample edition with all that comes before an LLM judge; to be copied.

    Kept from run to run, until something changes of what makes it.
    """
    folder = request.config.cache.mkdir("sample")
    kept = folder / f"{sha_of_makers()}.duckdb"
    with FileLock(folder / "lock"):
        if not kept.exists():
            for old in folder.glob("*.duckdb"):
                old.unlink()
            shutil.move(prepared_sample(tmp_path_factory.mktemp("prepared")), kept)
    return kept


def sha_of_makers() -> str:
    """Of the code, the configuration and the data that the prepared sample is made by."""
    makers = [ROOT / "requirements.lock", Path(llm_runs.__file__)]
    for top in ("flows", "tasks", "configs", "data/sample"):
        makers += sorted(path for path in (ROOT / top).rglob("*") if path.is_file())
    whole = sha256()
    for path in makers:
        if "__pycache__" not in path.parts:
            whole.update(f"{path.relative_to(ROOT)} ".encode() + sha256(path.read_bytes()).digest())
    return whole.hexdigest()


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
