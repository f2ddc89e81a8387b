"""Answers with anything in any place of them, at any status: read, refused or lost."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tasks.configuration.models import Limits
from tasks.costs.ledger import WarehouseLedger
from tasks.models.batch_client import BatchClient
from tasks.models.errors import ModelError, TransientError
from tasks.models.exchange import Reply
from tasks.models.gateway import Gateway
from tasks.models.live_sender import LiveSender
from tasks.models.prices import Budget
from tasks.warehouse.rows import Status
from tasks.warehouse.store import open_warehouse
from tests.servers.anthropic import MessagesServer
from tests.servers.base import ModelServer
from tests.servers.gemini import GeminiServer
from tests.servers.http import Request, Response
from tests.servers.openai import OpenAiServer
from tests.servers.prompts_for_tests import verify_claims, without_sampling
from tests.servers.serving import serving
from tests.servers.test_servers import BOTH, EVERY, Client, client_for
from tests.tasks.agents.foreign_json import ANYTHING, damaged
from tests.tasks.models.batching import client as batch_client
from tests.tasks.models.senders import QUICK
from tests.tasks.models.test_prices import price

ASKED = without_sampling(verify_claims())
CALM = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
REFUSALS: dict[type[ModelServer], Any] = {
    GeminiServer: {"error": {"code": 429, "message": "no", "status": "RESOURCE_EXHAUSTED",
                   "details": [{"@type": "QuotaFailure", "violations": [{"quotaId": "PerMinute"}]},
                               {"@type": "RetryInfo", "retryDelay": "3s"}]}},
    OpenAiServer: {"error": {"message": "no", "type": "requests", "code": "rate_limit"}},
    MessagesServer: {"type": "error", "request_id": "r1", "error": {
        "type": "rate_limit_error", "message": "no", "details": {"error_code": "a_limit"}}},
}  # fmt: skip
GEMINI_JOB = {
    "name": "batches/1", "done": True,
    "metadata": {"state": "BATCH_STATE_SUCCEEDED", "displayName": "n", "output": {
        "inlinedResponses": {"inlinedResponses": [{"metadata": {"key": "k"}, "response": {
            "candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}],
            "responseId": "r"}}]}}},
}  # fmt: skip
OPENAI_JOB = {
    "id": "b1", "status": "completed", "error_file_id": None,
    "errors": {"data": [{"message": "m"}]}, "metadata": {"evergreen_job": "n"},
}  # fmt: skip
JOBS: dict[type[ModelServer], tuple[Any, Any]] = {
    GeminiServer: (GEMINI_JOB, {"operations": [GEMINI_JOB], "nextPageToken": ""}),
    OpenAiServer: (OPENAI_JOB, {"data": [OPENAI_JOB], "has_more": False}),
}
"""A batch job, and the list of it."""
USES: dict[str, tuple[int, Callable[[BatchClient], Awaitable[Any]]]] = {
    "poll": (0, lambda client: client.poll("batches/1")),
    "create": (0, lambda client: client.create("n", {"k": ASKED})),
    "find": (1, lambda client: client.find("n")),
}


@dataclass
class Foreign:
    """A server that answers everything with the same."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"

    def __call__(self, request: Request) -> Response:
        return Response(self.status, self.body, self.content_type)


@cache
def whole(kind: type[ModelServer]) -> Any:
    """A judge's answer as the provider gives it."""
    server, said = kind(), list[bytes]()

    def handler(request: Request) -> Response:
        response = server(request)
        said.append(response.body)
        return response

    with serving(handler) as address:
        asyncio.run(client_for(server, address, "test-key").ask(ASKED))
    return json.loads(said[-1])


@contextmanager
def asking(kind: type[ModelServer], foreign: Foreign) -> Iterator[Callable[[], Reply]]:
    """Asks a foreign server, again and again, as a judge that knows how this one is asked."""
    with serving(foreign) as address, asyncio.Runner() as runner:

        async def opened() -> Client:
            client = client_for(kind(), address, "test-key")
            client._format = "json_schema"  # type: ignore[union-attr]
            return client

        client = runner.run(opened())
        yield lambda: runner.run(client.ask(ASKED))
        runner.run(client.close())


@EVERY
@pytest.mark.parametrize("status", [200, 400, 429, 500])
def test_a_damaged_answer_is_read_or_an_error_of_ours(kind: type[ModelServer], status: int) -> None:
    body = whole(kind) if status == 200 else REFUSALS[kind]
    foreign = Foreign(status)
    with asking(kind, foreign) as ask:

        @given(damaged(body) | ANYTHING.map(json.dumps))
        @CALM
        def each(said: str) -> None:
            foreign.body = said.encode()
            try:
                reply = ask()
            except ModelError:
                return
            assert status == 200
            reply.model_dump_json().encode()

        each()


@BOTH
@pytest.mark.parametrize("use", USES)
def test_a_damaged_batch_is_read_or_an_error_of_ours(kind: Any, use: str) -> None:
    number, call = USES[use]
    foreign = Foreign()
    with serving(foreign) as address, asyncio.Runner() as runner:

        async def opened() -> BatchClient:
            return batch_client(kind(), address)

        client = runner.run(opened())

        @given(damaged(JOBS[kind][number]) | ANYTHING.map(json.dumps))
        @CALM
        def each(said: str) -> None:
            foreign.body = said.encode()
            with suppress(ModelError):
                runner.run(asyncio.wait_for(call(client), 10))

        each()
        runner.run(client.close())


@BOTH
def test_a_list_of_batches_without_end_is_left(kind: Any) -> None:
    endless = JOBS[kind][1] | {"nextPageToken": "1", "has_more": True}
    foreign = Foreign(body=json.dumps(endless).encode())

    async def find(address: str) -> None:
        client = batch_client(kind(), address)
        with pytest.raises(TransientError):
            await client.find("another")
        await client.close()

    with serving(foreign) as address:
        asyncio.run(find(address))


@EVERY
@pytest.mark.parametrize("charset", ["hex", "rot13", "undefined", "utf-16", "no-such", "\xe9"])
def test_a_refusal_is_read_in_whatever_charset_it_says_it_is(
    kind: type[ModelServer], charset: str
) -> None:
    foreign = Foreign(body="Schlüssel?".encode("latin-1"), content_type=f"a/b; charset={charset}")
    with asking(kind, foreign) as ask:
        for status, meaning in ((401, "Misconfigured"), (429, "rate_limit"), (503, "server")):
            foreign.status = status
            with pytest.raises(ModelError) as caught:
                ask()
            assert meaning in (type(caught.value).__name__, getattr(caught.value, "kind", ""))


@EVERY
@pytest.mark.parametrize(
    ("status", "meaning"),
    [(202, "garbled"), (204, "garbled"), (302, "Misconfigured"), (303, "garbled"),
     (304, "garbled"), (600, "server")],
)  # fmt: skip
def test_a_status_that_is_neither_an_answer_nor_a_refusal_is_a_lost_answer_or_a_wrong_address(
    kind: type[ModelServer], status: int, meaning: str
) -> None:
    with asking(kind, Foreign(status)) as ask, pytest.raises(ModelError) as caught:
        ask()
    assert meaning in (type(caught.value).__name__, getattr(caught.value, "kind", ""))


@EVERY
@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_that_is_nested_too_deeply_is_lost(kind: type[ModelServer], status: int) -> None:
    deep = b'{"candidates":' * 100_000 + b"1" + b"}" * 100_000
    with asking(kind, Foreign(status, deep)) as ask, pytest.raises(TransientError):
        ask()


@EVERY
def test_counts_that_the_warehouse_cannot_hold_are_not_said(
    kind: type[ModelServer], tmp_path: Path
) -> None:
    body = json.dumps(whole(kind))
    for name in ("promptTokenCount", "prompt_tokens", "input_tokens"):
        body = re.sub(rf'"{name}": \d+', f'"{name}": {2**63}', body)

    async def bought(address: str) -> Any:
        client = client_for(kind(), address, "test-key")
        with open_warehouse(tmp_path / "warehouse.duckdb") as warehouse:
            gateway = Gateway(
                LiveSender(client, Limits(), price(), QUICK), WarehouseLedger(warehouse),
                answers_as=None, price=price(), budget=Budget(9),
            )  # fmt: skip
            outcome = await gateway.ask(ASKED, lambda answer: answer)
            await gateway.close()
            return outcome

    with serving(Foreign(body=body.encode())) as address:
        outcome = asyncio.run(bought(address))
    assert outcome.status is Status.OK
    assert outcome.call.prompt_tokens is None
    assert outcome.call.output_tokens > 0
