"""The key of an agent from a block of a Prefect server."""

import asyncio
from pathlib import Path

import pytest

from tests.changed_configs import change
from tests.flows.asked_runs import KEY, URL, ask
from tests.flows.llm_runs import value
from tests.guarantees.flows.test_ask_kinds import TEXT, path
from tests.servers.agent_chat import ChatAgentServer
from tests.servers.serving import serving

__all__ = ["path"]


def test_the_key_of_an_agent_can_come_from_a_prefect_secret_block(
    path: Path, agent_configs: Path, api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prefect.blocks.system import Secret

    block = {"key_block": "evergreen-agent-key"}
    change(agent_configs / "agents.yaml", lambda s: s["agents"]["chat"]["ask"].update(block))

    async def keep() -> None:
        await Secret(value="a-kept-key").save("evergreen-agent-key", overwrite=True)

    monkeypatch.setenv("PREFECT_API_URL", api)
    asyncio.run(keep())
    monkeypatch.delenv(KEY, raising=False)
    server = ChatAgentServer(TEXT, key="a-kept-key")
    with serving(server) as address:
        monkeypatch.setenv(URL, f"{address}/v1")
        assert ask(path, "chat", first=1).name == "Completed"
    assert server.bought == 1
    assert value(path, "SELECT count(*) FROM jobs WHERE parameters LIKE '%a-kept-key%'") == 0
