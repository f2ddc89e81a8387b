"""What is odd about reports that came, and where it is told: an unknown end, another model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.warehouse.jobs import Job
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.changed_configs import change
from tests.flows.asked_runs import KEY, QUICK, URL, ask
from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import rows
from tests.flows.test_ask import path
from tests.servers.agent_chat import ChatAgentServer
from tests.servers.serving import serving

__all__ = ["path"]
CHAT = {"kind": "chat", "model": "a-model", "base_url_env": URL, "key_env": KEY,
        "limits": QUICK | {"concurrency": 1}}  # fmt: skip


@pytest.fixture
def chat(agent_configs: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatAgentServer]:
    """A served agent `writer` behind a chat completions endpoint."""
    writer = {"name": "Writer", "ask": CHAT}
    change(agent_configs / "agents.yaml", lambda s: s["agents"].update(writer=writer))
    server = ChatAgentServer("It grew ([Growth](https://a.example.org/growth)).")
    with serving(server) as address:
        monkeypatch.setenv(URL, f"{address}/v1")
        monkeypatch.setenv(KEY, "test-key")
        yield server


def test_an_agent_that_answers_as_another_model_is_told_once(
    path: Path, chat: ChatAgentServer, capfd: pytest.CaptureFixture[str]
) -> None:
    change = "writer answered as writer-2; earlier in this edition: 1 report by writer-1"
    chat.body = {"model": "writer-1"}
    assert "answered as" not in ask(path, "writer", first=1).message
    chat.body = {"model": "writer-2"}
    assert ask(path, "writer").message.endswith(
        "writer answered as two models: 1 and 2 reports (writer-1, writer-2)."
    )
    assert capfd.readouterr().err.count(change) == 1


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("because", "it ended with 'because', an unknown finish reason"),
        ("stop", None),
        (None, None),
    ],
)
def test_a_report_that_may_not_be_whole_is_kept_and_told_where_it_stands(
    path: Path, chat: ChatAgentServer, evergreen: Evergreen, reason: str | None, said: str | None
) -> None:
    chat.finish_reason = reason
    command = ("--edition", "sample", "--warehouse", path)
    code, _, err = evergreen("ask", "--agent", "writer", "--first", 1, *command)
    assert code == 0
    doubt = f"the report may not be whole: {said}"
    assert (doubt in err) == (said is not None)
    [(name,)] = rows(path, "SELECT assignment FROM reports WHERE agent = 'writer'")
    _, out, _ = evergreen("explain", f"writer/{name}", *command)
    assert (doubt in " ".join(out.split())) == (said is not None)
    assert ("may not be whole" in out) == (said is not None)


def test_a_report_that_an_earlier_version_took_for_whole_is_told_where_it_stands(
    path: Path, chat: ChatAgentServer, evergreen: Evergreen
) -> None:
    assert ask(path, "writer", first=1).name == "Completed"
    with open_warehouse(path) as store:
        [job] = store.rows(Job, "agent = 'writer'", [])
        store.write(Change(Job, [job.model_copy(update={"remote_word": "MAX_TOKENS"})]))
    _, out, _ = evergreen("explain", f"writer/{job.assignment}", "--edition", "sample",
                          "--warehouse", path)  # fmt: skip
    assert "it was cut at its token limit (MAX_TOKENS)" in " ".join(out.split())
