"""Waiting for a person: a server that is away for a moment ends nothing, what failed is named."""

import asyncio
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from prefect.exceptions import ObjectNotFound
from prefect.states import Paused, Running

from flows.runtime import approval
from flows.runtime.approval import PublishDecision, wait_for_decision
from tests.flows.runtime.test_cancelling import AWAY, Client, answered, use


@pytest.fixture(autouse=True)
def waiting_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of the command line that Prefect's pause keeps waiting."""
    run = SimpleNamespace(id=uuid4(), deployment_id=None)
    monkeypatch.setattr(approval, "_get_current_run", lambda: run)


def test_who_does_not_decide_in_time_has_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    async def forever(**_: Any) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(approval, "apause_flow_run", forever)
    assert asyncio.run(wait_for_decision("figures", 0.01)) is None


@pytest.mark.parametrize("error", [ObjectNotFound(answered(404)), answered(401), KeyError("state")])
def test_a_run_that_cannot_be_asked_for_any_more_ends_with_that(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(**_: Any) -> None:
        raise error

    monkeypatch.setattr(approval, "apause_flow_run", fail)
    with pytest.raises(type(error)) as raised:
        asyncio.run(wait_for_decision("figures", 60))
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
    use(Client(AWAY, Paused(), Paused(), AWAY, Running()), monkeypatch)
    decision = asyncio.run(wait_for_decision("figures", 60))
    assert decision is not None
    assert decision.note == "still here"
