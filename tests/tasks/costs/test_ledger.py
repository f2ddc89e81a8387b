"""The ledger in the warehouse: found again, replaced only where nothing came, asked together."""

import asyncio
import json
from typing import Any

from tasks.costs.ledger import (
    WarehouseLedger,
    average_tokens,
    find_answered_requests,
    summarize_calls,
)
from tasks.models.client import ModelClient
from tasks.models.errors import TransientError
from tasks.models.exchange import ModelRequest, TokenUsage
from tasks.models.gateway import Gateway, RequestOutcome
from tasks.models.prices import Budget
from tasks.warehouse.rows import Status
from tasks.warehouse.store import Warehouse
from tests.servers.http import Request, Response
from tests.servers.openai import OpenAiServer
from tests.servers.serving import serving
from tests.servers.test_servers import client_for
from tests.tasks.models.scripted import VERSION, ScriptedSender, question, read_word, said


def gateway_of(warehouse: Warehouse, sender: ScriptedSender) -> Gateway:
    ledger = WarehouseLedger(warehouse)
    return Gateway(sender, ledger, answers_as=None, price=None, budget=Budget())


def asked(warehouse: Warehouse, sender: ScriptedSender, *requests: ModelRequest) -> list[Any]:
    """Several questions at once, in a run of their own."""

    async def run() -> list[Any]:
        gateway = gateway_of(warehouse, sender)
        found = await asyncio.gather(*(gateway.ask(r, read_word) for r in requests))
        await gateway.close()
        return found

    return asyncio.run(run())


def test_what_was_bought_is_found_by_the_next_run(warehouse: Warehouse) -> None:
    requests = [question(f"Is it so, {n}?") for n in range(30)]
    first = asked(warehouse, ScriptedSender(said("yes")), *requests)
    sender = ScriptedSender(said("no"))
    again = asked(warehouse, sender, *requests, question("Is it new?"))
    assert [outcome.value for outcome in again] == ["yes"] * 30 + ["no"]
    assert [o.call.call_id for o in again[:30]] == [o.call.call_id for o in first]
    assert len(sender.sent) == 1


def test_what_was_bought_is_found_later_in_the_same_run(warehouse: Warehouse) -> None:
    sender = ScriptedSender(said("yes"))

    async def twice() -> list[str | None]:
        gateway = gateway_of(warehouse, sender)
        return [(await gateway.ask(question(), read_word)).value for _ in range(2)]

    assert asyncio.run(twice()) == ["yes", "yes"]
    assert len(sender.sent) == 1


def test_a_cancelled_lookup_leaves_the_others_their_answer(warehouse: Warehouse) -> None:
    request = question()
    asked(warehouse, ScriptedSender(said("yes")), request)

    async def look_up_twice() -> list[Any]:
        ledger = WarehouseLedger(warehouse)
        first, second = (
            asyncio.create_task(ledger.load_attempts(request.request_id)) for _ in range(2)
        )
        await asyncio.sleep(0)
        first.cancel()
        return list(await second)

    assert len(asyncio.run(look_up_twice())) == 1


def test_a_failed_call_is_replaced_and_everything_else_is_kept(warehouse: Warehouse) -> None:
    asked(warehouse, ScriptedSender(TransientError("HTTP 503", "server")), question())
    asked(warehouse, ScriptedSender(said("perhaps"), TransientError("no", "timeout")), question())
    asked(warehouse, ScriptedSender(said("yes")), question())
    rows = warehouse.frame("SELECT attempt, status, answer FROM calls ORDER BY attempt").rows()
    assert rows == [(1, "ok", "perhaps"), (2, "ok", "yes")]


def test_tokens_written_to_a_cache_are_kept_and_summed(warehouse: Warehouse) -> None:
    said_nothing = TokenUsage(prompt=40, output=4)
    asked(warehouse, ScriptedSender(said(usage=said_nothing)), question("Unsaid?"))
    assert summarize_calls(warehouse)["written"].to_list() == [None]
    counts = {"cache_write_tokens": 30, "cache_write_hour_tokens": 10}
    usage = TokenUsage(prompt=40, output=4, **counts)
    asked(warehouse, ScriptedSender(said(usage=usage)), question("One?"), question("Another?"))
    [row] = warehouse.frame(f"SELECT DISTINCT {', '.join(counts)} FROM calls WHERE "
                            "cache_write_tokens IS NOT NULL").to_dicts()  # fmt: skip
    assert row == counts
    assert summarize_calls(warehouse)["written"].to_list() == [60]


def test_an_answer_is_kept_as_it_came(warehouse: Warehouse) -> None:
    strange = "yes\x00\x1f\u2028\ufeff😀 \\ud83d \u202e"
    sender = ScriptedSender(said(strange))
    asked(warehouse, sender, question())
    kept = warehouse.frame("SELECT answer, prompt, system_prompt FROM calls").row(0)
    assert kept == (strange, "Is it so?", "Say yes or no.")


def test_the_version_that_answered_first_is_known(warehouse: Warehouse) -> None:
    assert WarehouseLedger(warehouse).known_version("any", "some-model") is None
    asked(warehouse, ScriptedSender(said("yes")), question())
    assert WarehouseLedger(warehouse).known_version("any", "some-model") == VERSION
    assert WarehouseLedger(warehouse).known_version("other", "some-model") is None


def test_what_was_answered_and_how_long_answers_are_is_known(warehouse: Warehouse) -> None:
    failing = question("Is it failing?")
    asked(warehouse, ScriptedSender(said("yes")), question())
    asked(warehouse, ScriptedSender(TransientError("HTTP 503", "server")), failing)
    ids = [question().request_id, failing.request_id, "0" * 64]
    assert find_answered_requests(warehouse, ids) == {ids[0]}
    assert average_tokens(warehouse, "any", "some-model").rows() == [("p", "s", 1, 4.0)]


def test_what_was_refused_to_the_end_is_not_asked_again(warehouse: Warehouse) -> None:
    refused, unusable = said("", "refused"), question("Is it unusable?")
    asked(warehouse, ScriptedSender(refused, refused), question())
    asked(warehouse, ScriptedSender(refused, said("", "truncated")), unusable)
    ids = [question().request_id, unusable.request_id]
    assert find_answered_requests(warehouse, ids) == {ids[0]}


def half_a_sign(request: Request) -> Response:
    """A chat completion that was cut within an emoji, as a server in Python writes it."""
    message = {"role": "assistant", "content": "yes\ud83d"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 40, "completion_tokens": 2}
    body = {"id": "1", "model": "m", "choices": [choice], "usage": usage}
    return Response(200, json.dumps(body).encode("ascii"))


def test_an_answer_with_half_a_sign_is_kept_too(warehouse: Warehouse) -> None:
    async def ask(address: str) -> RequestOutcome[str]:
        client: ModelClient = client_for(OpenAiServer(), address, "test-key")

        class Once(ScriptedSender):
            async def send(self, request: ModelRequest, lost: object = None) -> Any:
                return await client.ask(request)

        gateway = gateway_of(warehouse, Once(said()))
        try:
            return await gateway.ask(question(), lambda answer: answer)
        finally:
            await gateway.close()
            await client.close()

    with serving(half_a_sign) as address:
        outcome = asyncio.run(ask(address))
    assert outcome.status is Status.OK
    assert warehouse.value("SELECT count(*) FROM calls") == 1
