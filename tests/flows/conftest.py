"""The command in this process, and the sample edition, judged; no server and no helper process."""

import shutil
import sys
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from flows.runtime import server
from tests.conftest import PREFECT_HOME
from tests.flows.asked_runs import agents_of, write_agents
from tests.flows.llm_runs import ROOT, configured, prepared_sample, write_configs
from tests.in_this_process import helpers
from tests.sample_edition import PART, SMALL, WHOLE

__all__ = ["helpers"]
Said = tuple[int, str, str]
Evergreen = Callable[..., Said]


@pytest.fixture(autouse=True)
def no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*_: object) -> None:
        pytest.fail(
            "A Prefect server was started: such a test is one of processes (CONTRIBUTING.md)."
        )

    monkeypatch.setattr(server, "start_server", start)


@pytest.fixture(scope="session")
def sample(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample edition with all that comes before an LLM judge; to be copied."""
    return kept(request, "sample", PART, tmp_path_factory.mktemp("prepared"))


@pytest.fixture(scope="session")
def small(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One article and two agents of it, prepared as well; to be copied."""
    return kept(request, "small", SMALL, tmp_path_factory.mktemp("prepared"))


@pytest.fixture(scope="session")
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that the demo runs on, judged offline; to be copied."""
    return kept(request, "whole", WHOLE, tmp_path_factory.mktemp("prepared"))


def kept(request: pytest.FixtureRequest, name: str, source: Path, made_in: Path) -> Path:
    """It is kept from run to run, until something changes of what makes it."""
    folder = request.config.cache.mkdir(name)
    path = folder / f"{sha_of_makers()}.duckdb"
    with FileLock(folder / "lock"):
        if not path.exists():
            for old in folder.glob("*.duckdb"):
                old.unlink()
            shutil.move(prepared_sample(made_in, source), path)
    return path


@cache
def sha_of_makers() -> str:
    """Of the code, the configuration and the data that the prepared sample is made by."""
    tests = ("sample_edition", "flows/llm_runs", "flows/plain_evaluation", "flows/plain_prefect")
    makers = [ROOT / "requirements.lock", *(ROOT / f"tests/{name}.py" for name in tests)]
    for top in ("flows", "tasks", "configs", "data/sample"):
        makers += sorted(path for path in (ROOT / top).rglob("*") if path.is_file())
    whole = sha256()
    for path in makers:
        if "__pycache__" not in path.parts:
            whole.update(f"{path.relative_to(ROOT)} ".encode() + sha256(path.read_bytes()).digest())
    return whole.hexdigest()


@pytest.fixture(scope="module")
def judges(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Configuration with the judges of `llm_runs`; this process and those it starts read it."""
    folder = tmp_path_factory.mktemp("judges")
    written = write_configs(folder, batch_api=True, timeout_seconds=60)
    with configured(written):
        yield written


@pytest.fixture(scope="module")
def agent_configs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Configuration with an agent for each job server; this process and its own read it."""
    written = write_agents(tmp_path_factory.mktemp("agents"))
    with agents_of(written):
        yield written


@pytest.fixture
def evergreen(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Evergreen:
    """The command in this process: exit code, answers, remarks."""
    from flows.cli.main import main
    from flows.display.console import QUIET_VARIABLE, STDERR

    monkeypatch.setattr(STDERR, "quiet", False)  # and so again afterwards, whoever asks for quiet
    monkeypatch.setenv(QUIET_VARIABLE, "0")
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
