"""Waiting for a person: a server that is away for a moment ends nothing, what failed is named."""

import asyncio
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import httpx
import pytest
from prefect.exceptions import ObjectNotFound
from prefect.states import Cancelling, Paused, Running

from flows.runtime import approval
from flows.runtime.approval import PublishDecision, RunCancelled, wait_for_decision

AWAY = httpx.ConnectError("connection refused")
REQUEST = httpx.Request("GET", "http://prefect.example/api/flow_runs/1")


def answered(status: int) -> httpx.HTTPStatusError:
    return httpx.HTTPStatusError("no", request=REQUEST, response=httpx.Response(status))


class Client:
    """A client of a server that says this in turn, and goes on with the last."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *error: object) -> None: ...

    async def read_flow_run(self, run_id: object) -> Any:
        said = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(said, Exception):
            raise said
        return SimpleNamespace(state=said)


@pytest.fixture(autouse=True)
def waiting_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of the command line that Prefect's pause keeps waiting."""
    run = SimpleNamespace(id=uuid4(), deployment_id=None)
    monkeypatch.setattr(approval, "_get_current_run", lambda: run)
    monkeypatch.setattr(approval, "POLL_SECONDS", 0)
    monkeypatch.setattr(approval, "apause_flow_run", forever)


async def forever(**_: Any) -> PublishDecision:
    await asyncio.Event().wait()
    raise AssertionError


def decide(monkeypatch: pytest.MonkeyPatch, client: Client) -> PublishDecision | None:
    monkeypatch.setattr(approval, "get_client", lambda: client)
    return asyncio.run(wait_for_decision("figures", 60))


def test_a_server_that_is_away_or_busy_for_a_moment_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = Client(AWAY, httpx.ReadTimeout("late"), answered(503), answered(429), Paused(),
                    Cancelling())  # fmt: skip
    with pytest.raises(RunCancelled):
        decide(monkeypatch, client)
    assert len(client.answers) == 1


@pytest.mark.parametrize("error", [ObjectNotFound(answered(404)), answered(401), KeyError("state")])
def test_what_cannot_be_asked_any_more_is_no_cancellation(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(type(error)) as raised:
        decide(monkeypatch, Client(Paused(), error))
    assert raised.value is error


def test_an_answer_that_comes_after_prefects_pause_gave_up_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys: list[str] = []

    async def gave_up(*, key: str, **_: Any) -> PublishDecision:
        keys.append(key)
        raise AWAY

    async def load(keyset: dict[str, str]) -> PublishDecision:
        assert keyset["response"] == f"paused-{keys[0]}-response"
        return PublishDecision(publish=True, note="still here")

    monkeypatch.setattr(approval, "apause_flow_run", gave_up)
    monkeypatch.setattr(PublishDecision, "aload", load)
    decision = decide(monkeypatch, Client(AWAY, Paused(), Paused(), AWAY, Running()))
    assert decision is not None
    assert decision.note == "still here"
