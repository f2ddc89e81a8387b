"""What stops the stage, what is counted although it was lost, and what a minute may see."""

import asyncio

import pytest

from tasks.configuration.models import Limits
from tasks.models.errors import BudgetExhausted, QuotaExhausted
from tasks.models.exchange import Reply
from tasks.models.gateway import Gateway
from tasks.models.gemini import GeminiClient
from tasks.models.limits import SlidingWindow
from tasks.models.live_sender import LiveSender
from tasks.models.prices import Budget
from tests.servers.base import ModelServer
from tests.servers.gemini import GeminiServer
from tests.servers.http import json_response
from tests.servers.openai import OpenAiServer
from tests.servers.prompts_for_tests import verify_claims
from tests.servers.serving import serving
from tests.tasks.models.scripted import (
    MemoryLedger,
    ScriptedClient,
    ScriptedSender,
    question,
    read_word,
    said,
)
from tests.tasks.models.senders import LATER, QUICK, later, sending, struck
from tests.tasks.models.test_prices import price
from tests.tasks.models.virtual_time import now
from tests.tasks.models.virtual_time import run as run_virtually


async def twice(sender: LiveSender) -> list[object]:
    """The struck question, then another one."""
    first = await later(sender)
    try:
        return [first, await sender.send(verify_claims(note=" Thirdly."))]
    except QuotaExhausted as error:
        return [first, error]


@pytest.mark.parametrize(
    ("kind", "fault"), [(GeminiServer, "quota_per_day"), (OpenAiServer, "spend_cap")]
)
def test_a_used_up_quota_stops_the_stage_at_the_first_try(
    kind: type[ModelServer], fault: str
) -> None:
    server = struck(kind, fault)
    found = sending(server, twice)
    assert [type(error) for error in found] == [QuotaExhausted, QuotaExhausted]
    assert len(server.log.entries) == 2


@pytest.mark.parametrize("status", [402, 429])
def test_gemini_without_prepaid_credit_stops_the_stage(status: int) -> None:
    said = {"code": status, "status": "RESOURCE_EXHAUSTED",
            "message": "Your prepayment credits are depleted."}  # fmt: skip

    async def once(address: str) -> None:
        client = GeminiClient("k", base_url=address, connections=1, timeout_seconds=5)
        with pytest.raises(QuotaExhausted, match="prepayment credits are depleted"):
            await client.ask(verify_claims())
        await client.close()

    with serving(lambda request: json_response({"error": said}, status)) as address:
        asyncio.run(once(address))


async def one_waits_for_hours(sender: LiveSender) -> list[object]:
    waiting = asyncio.create_task(sender.send(LATER))
    await asyncio.wait([waiting], timeout=30)
    try:
        return [waiting.done(), await sender.send(verify_claims(note=" Thirdly."))]
    except QuotaExhausted as error:
        return [waiting.done(), error]
    finally:
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


def test_a_hint_of_hours_is_not_waited_for_and_stops_all_others() -> None:
    server = struck(OpenAiServer, "quota_per_day")
    done, error = sending(server, one_waits_for_hours)
    assert done
    assert isinstance(error, QuotaExhausted)
    assert "8,640 seconds" in str(error)
    assert len(server.log.entries) == 2


def test_an_answer_lost_on_its_way_counts_although_the_next_try_succeeds() -> None:
    server = struck(GeminiServer, "reset_mid_body", times=2)
    budget = Budget(1.0)

    async def ask(sender: LiveSender) -> float:
        model = Gateway(sender, MemoryLedger(), answers_as=None, price=price(), budget=budget)
        outcome = await model.ask(LATER, lambda answer: answer)
        assert outcome.call
        return outcome.call.cost_usd or 0

    one = sending(server, ask)
    assert server.log.summary()["lost"] == 2
    assert budget.spent + budget.maybe_spent >= 3 * one > 0


def test_no_minute_sees_more_requests_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    async def slow_at_first(n: int) -> Reply:
        await asyncio.sleep(59 if n <= 2 else 0)
        return said()

    client = ScriptedClient(slow_at_first)

    async def ask() -> None:
        monkeypatch.setattr(SlidingWindow.__init__, "__defaults__", (now,))
        sender = LiveSender(client, Limits(concurrency=2, requests_per_minute=10), None, QUICK)
        await asyncio.gather(*(sender.send(question(f"{n}?")) for n in range(20)))

    run_virtually(ask())
    for at in client.asked_at:
        assert sum(at - 60 < other <= at for other in client.asked_at) <= 10


async def asked(model: Gateway, n: int) -> object:
    try:
        return await model.ask(question(f"Is it so, {n}?"), read_word)
    except BudgetExhausted as error:
        return error


@pytest.mark.parametrize("lost_first", [1, 2, 5])
def test_lost_answers_never_make_a_run_spend_more_than_its_budget(lost_first: int) -> None:
    most = price().max_cost(question("Is it so, 0?"))
    sender, budget = ScriptedSender(said()), Budget(1.5 * most)
    sender.lost_first = lost_first

    async def several() -> list[object]:
        model = Gateway(sender, MemoryLedger(), answers_as=None, price=price(), budget=budget)
        return [await asked(model, n) for n in range(4)]

    found = run_virtually(several())
    assert {type(outcome) for outcome in found} == {BudgetExhausted}
    assert budget.spent + budget.maybe_spent <= 1.5 * most
    assert sender.sent == []
