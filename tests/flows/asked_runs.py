"""Runs of `ask` and `backfill` on the sample edition, with the job servers of tests/servers."""

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tasks.agents.registry import get_agent_entry, load_agents
from tasks.editions.prompts import assign_writing
from tasks.warehouse.store import open_warehouse
from tests.changed_configs import copy_configs, reading
from tests.servers.job_gemini import GeminiJobs
from tests.servers.job_openai import OpenAiJobs
from tests.servers.job_perplexity import PerplexityJobs
from tests.servers.jobs import JobServer
from tests.servers.serving import serving

URL, KEY = "EVERGREEN_TEST_AGENT_URL", "EVERGREEN_TEST_AGENT_KEY"
KINDS: dict[str, tuple[str, type[JobServer], str]] = {
    "gemini": ("gemini_deep_research", GeminiJobs, ""),
    "openai": ("openai_responses", OpenAiJobs, "/v1"),
    "perplexity": ("perplexity", PerplexityJobs, ""),
}
"""Agent: kind in `agents.yaml`, server, what its address ends in."""
QUICK = {
    "concurrency": 4, "first_poll_seconds": 0.02, "longest_poll_seconds": 0.1,
    "first_wait_seconds": 0.02, "start_tries": 4, "timeout_seconds": 3, "deadline_minutes": 5,
}  # fmt: skip
PRICE = {
    "typical_usd": 2, "most_usd": 5, "tokens": {"input": 2, "output": 10}, "source": "invented",
    "checked": "2026-11-21",
}  # fmt: skip
N_ARTICLES = 3


def write_agents(folder: Path, **more: Any) -> Path:
    """A copy of the project's configuration with an agent for each of KINDS; and those of
    `more`, by name."""
    made = {
        name: {
            "name": f"Test {name}",
            "ask": {"kind": kind, "model": "test-model", "base_url_env": URL, "key_env": KEY,
                    "limits": QUICK, "price": PRICE},
        }
        for name, (kind, _, _) in KINDS.items()
    }  # fmt: skip
    return copy_configs(folder, agents=lambda s: s["agents"].update(made | more))


def agents_of(configs: Path) -> AbstractContextManager[None]:
    """This process and those it starts read `configs`."""
    return reading(configs, load_agents, get_agent_entry)


@contextmanager
def serving_agent(server: JobServer, agent: str, port: int = 0) -> Iterator[str]:
    """Serve; the agents' address and key are set meanwhile. Gives the server's bare address."""
    with serving(server, port) as address, pytest.MonkeyPatch.context() as patch:
        patch.setenv(URL, address + KINDS[agent][2])
        patch.setenv(KEY, "test-key")
        yield address


def askable(sample: Path, folder: Path) -> Path:
    """A copy of the evaluated sample edition whose assignments have prompts."""
    path = folder / "warehouse.duckdb"
    shutil.copy(sample, path)
    with open_warehouse(path) as warehouse:
        assign_writing(warehouse, "sample")
    return path


def ask(path: Path, *agents: str, **parameters: Any) -> Any:
    """The flow in this process; its final state."""
    from flows.ask import ask as flow

    async def run() -> Any:
        chosen: dict[str, Any] = {"edition": "sample", "warehouse": str(path)}
        return await flow(agents=list(agents), **chosen | parameters, return_state=True)

    return asyncio.run(run())


def backfill(path: Path, *agents: str, **parameters: Any) -> Any:
    """The flow in this process, which fetches nothing unless told; its final state."""
    from flows.backfill import backfill as flow

    async def run() -> Any:
        chosen = {"warehouse": str(path), "fetch_pages": False} | parameters
        return await flow(agents=[*agents], **chosen, return_state=True)

    return asyncio.run(run())
