"""Agents that answer in one request, and somebody's own service, through the flow."""

from pathlib import Path
from typing import Any

import pytest

from tests.changed_configs import change
from tests.flows.asked_runs import KEY, N_ARTICLES, PRICE, QUICK, URL, ask, askable
from tests.flows.llm_runs import rows
from tests.servers.agent_anthropic import AnthropicServer
from tests.servers.agent_base import AgentServer
from tests.servers.agent_chat import ChatAgentServer
from tests.servers.agent_dashscope import DashScopeServer
from tests.servers.agent_service import ServiceServer
from tests.servers.agent_xai import XaiServer
from tests.servers.serving import serving

TEXT = "# The town\n\nIt grew [[1]](https://a.org/one)."
CLAUDE = [{"type": "text", "text": TEXT, "citations": []}]
SERVERS: dict[str, tuple[str, str, Any]] = {
    "chat": ("chat", "/v1", lambda: ChatAgentServer(TEXT)),
    "claude": ("anthropic", "", lambda: AnthropicServer(CLAUDE)),
    "xai": ("xai", "/v1", lambda: XaiServer(TEXT)),
    "qwen": ("dashscope", "/api/v1", lambda: DashScopeServer(TEXT)),
    "service": ("http", "/reports", lambda: ServiceServer(TEXT)),
}
"""Agent: kind, what its address ends in, its server."""


@pytest.fixture
def path(sample: Path, agent_configs: Path, tmp_path: Path) -> Path:
    made = {}
    for name, (kind, _, _) in SERVERS.items():
        where = (
            {"url": "http://127.0.0.1:9", "url_env": URL}
            if kind == "http"
            else {"model": "a-model", "base_url_env": URL}
        )
        given = {"kind": kind, "key_env": KEY, "limits": QUICK, "price": PRICE}
        made[name] = {"name": name, "ask": given | where}
    change(agent_configs / "agents.yaml", lambda s: s["agents"].update(made))
    return askable(sample, tmp_path)


@pytest.fixture(params=["qwen", "service"])
def agent(request: pytest.FixtureRequest) -> str:
    """One that asks back first, and one that is no model's."""
    return str(request.param)


def test_every_report_is_bought_once_and_a_second_run_asks_nothing(
    path: Path, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, under, made = SERVERS[agent]
    server: AgentServer = made()
    n_turns = 2 if agent == "qwen" else 1  # it asks first, whatever it is asked
    with serving(server) as address:
        monkeypatch.setenv(URL, address + under)
        monkeypatch.setenv(KEY, "test-key")
        assert ask(path, agent).name == "Completed"
        assert ask(path, agent).name == "Cached"
    assert server.bought == N_ARTICLES * n_turns
    assert rows(path, "SELECT DISTINCT turn, state FROM jobs ORDER BY turn") == [
        (turn + 1, "done") for turn in range(n_turns)
    ]
    texts = rows(path, f"SELECT text, status FROM reports WHERE agent = '{agent}'")
    assert len(texts) == N_ARTICLES
    assert all("It grew" in text and status == "ok" for text, status in texts)


def test_a_rate_limit_inside_http_200_is_waited_for_and_no_credit_stops_at_the_first(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = ChatAgentServer(TEXT)
    limited = {"error": {"message": "Slow down", "code": 429}}
    server.refusals = [limited, {"choices": [{"error": {"message": "Too many requests"}}]}]
    with serving(server) as address:
        monkeypatch.setenv(URL, f"{address}/v1")
        monkeypatch.setenv(KEY, "test-key")
        assert ask(path, "chat", first=2).name == "Completed"
        assert (len(server.asked), server.bought) == (4, 2)
        server.refusals = [{"error": {"message": "Insufficient credits", "code": 402}}] * 9
        stopped = ask(path, "chat")
    assert (stopped.name, server.bought, len(server.asked)) == ("Partial", 2, 5)
    assert "Insufficient credits" in stopped.message
