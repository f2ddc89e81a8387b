"""Asking agents: what is checked and said before anything is bought."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tasks.jobs.sessions import open_job_runner
from tasks.models.errors import Misconfigured
from tasks.warehouse.store import open_warehouse
from tests.flows.asked_runs import KINDS, askable, serving_agent
from tests.flows.conftest import Evergreen
from tests.servers.jobs import JobScript
from tests.tasks.runs import run_of


@pytest.fixture
def path(sample: Path, agent_configs: Path, tmp_path: Path) -> Path:
    return askable(sample, tmp_path)


def server_of(agent: str, script: JobScript | None = None) -> Any:
    return KINDS[agent][1](script)


@pytest.mark.parametrize("agent", sorted(KINDS))
def test_check_says_in_words_what_is_wrong(
    agent_configs: Path, evergreen: Evergreen, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    server = server_of(agent)
    with serving_agent(server, agent):
        code, said, _ = evergreen("agents", "check", agent)
        assert code == 0
        assert "key" in said
        monkeypatch.setenv("EVERGREEN_TEST_AGENT_KEY", "wrong-key-1")
        code, _, said = evergreen("agents", "check", agent)
        assert code == 1
        assert "key is not accepted" in said
        assert "wrong-key-1" not in said
    assert server.n_made == 0
    monkeypatch.setenv("EVERGREEN_TEST_AGENT_KEY", "test-key")
    monkeypatch.setenv("EVERGREEN_TEST_AGENT_URL", "http://127.0.0.1:9")
    code, _, said = evergreen("agents", "check", agent)
    assert code == 1
    assert "cannot be reached" in said


def test_an_agent_that_is_being_asked_is_not_asked_again_beside_it(path: Path) -> None:
    async def twice() -> None:
        with open_warehouse(path) as store, run_of(store, "sample") as run:
            async with open_job_runner(run, "sample", "openai"):
                with pytest.raises(Misconfigured, match="in this process already"):
                    await open_job_runner(run, "sample", "openai").__aenter__()
            async with open_job_runner(run, "sample", "openai"):
                pass

    with serving_agent(server_of("openai"), "openai"):
        asyncio.run(twice())
