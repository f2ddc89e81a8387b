"""A run that is cancelled in the UI ends; a server that is away for a moment ends nothing."""

import asyncio
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import httpx
import pytest
from prefect.exceptions import ObjectNotFound
from prefect.states import Cancelled, Cancelling, Running

from flows.runtime import cancelling
from flows.runtime.cancelling import run_until_cancelled
from tests.waiting import SECONDS

AWAY = httpx.ConnectError("connection refused")
REQUEST = httpx.Request("GET", "http://prefect.example/api/flow_runs/1")


def answered(status: int) -> httpx.HTTPStatusError:
    return httpx.HTTPStatusError("no", request=REQUEST, response=httpx.Response(status))


class Client:
    """A client of a server that says this in turn, and goes on with the last."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.said_all = asyncio.Event()

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *error: object) -> None: ...

    async def read_flow_run(self, run_id: object) -> Any:
        if len(self.answers) == 1:
            self.said_all.set()
        said = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(said, Exception):
            raise said
        return SimpleNamespace(state=said)


async def paid_call(kept: list[str]) -> None:
    """A call that nobody answers, and that is waited for when it is cancelled."""
    try:
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0.01)
        kept.append("answer")


def use(client: Client, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr(cancelling, "POLL_SECONDS", 0)
    monkeypatch.setattr(cancelling, "get_client", lambda: client)
    return client


@pytest.mark.parametrize("state", [Cancelling(), Cancelled()])
def test_a_cancelled_run_ends_once_its_paid_call_is_kept_though_the_server_was_away(
    state: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = use(Client(AWAY, httpx.ReadTimeout("late"), answered(503), answered(429), Running(),
                        state), monkeypatch)  # fmt: skip
    kept: list[str] = []

    async def run() -> Any:
        return await asyncio.wait_for(run_until_cancelled(paid_call(kept), uuid4()), SECONDS)

    ended = asyncio.run(run())
    assert (ended.type.value, kept, client.answers) == ("CANCELLED", ["answer"], [state])


@pytest.mark.parametrize("error", [ObjectNotFound(answered(404)), answered(401), KeyError("x")])
def test_a_run_that_cannot_be_asked_for_any_more_is_not_cancelled(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = use(Client(Running(), error), monkeypatch)

    async def work() -> str:
        await client.said_all.wait()
        await asyncio.sleep(0.01)
        return "done"

    assert asyncio.run(run_until_cancelled(work(), uuid4())) == "done"


def test_the_error_of_the_work_is_that_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    use(Client(Running()), monkeypatch)

    async def work() -> None:
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        asyncio.run(run_until_cancelled(work(), uuid4()))


def test_an_interruption_ends_the_work_and_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    use(Client(Running()), monkeypatch)
    kept: list[str] = []

    async def run() -> None:
        running = asyncio.create_task(run_until_cancelled(paid_call(kept), uuid4()))
        await asyncio.sleep(0.01)
        running.cancel()
        await running

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())
    assert kept == ["answer"]
