"""LLM judges for tests: one whose questions are only noted, and one at a model server."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import date
from typing import Any, TypeVar

from tasks.configuration.models import Limits, LlmJudgeEntry, Retries
from tasks.judges.llm.judge import LlmJudge
from tasks.models.exchange import ModelRequest
from tasks.models.gateway import Gateway, RequestOutcome
from tasks.models.live_sender import LiveSender
from tasks.models.prices import Budget
from tasks.warehouse.rows import Status
from tests.servers.base import ModelServer
from tests.servers.gemini import GeminiServer
from tests.servers.oracle import Oracle
from tests.servers.serving import serving
from tests.servers.test_servers import client_for
from tests.tasks.models.scripted import MemoryLedger

ResultT = TypeVar("ResultT")
ValueT = TypeVar("ValueT")
Change = Callable[[list[dict[str, Any]]], Any]
"""From the list of results to another one, or to the whole text of an answer."""


class Changing(Oracle):
    """Answers as the oracle does, with `change` made to its results; the first `times` only."""

    def __init__(self, change: Change, times: int = 99) -> None:
        super().__init__()
        self._change, self._times = change, times

    def answer(self, system: str, user: str, schema: dict[str, Any] | None) -> str:
        results = json.loads(super().answer(system, user, schema))["results"]
        self._times -= 1
        changed = results if self._times < 0 else self._change(results)
        return changed if isinstance(changed, str) else json.dumps({"results": changed})


class Recorder:
    """An asker that notes what it is asked and answers nothing."""

    def __init__(self) -> None:
        self.asked: list[ModelRequest] = []

    async def ask(
        self, request: ModelRequest, read: Callable[[str], ValueT]
    ) -> RequestOutcome[ValueT]:
        self.asked.append(request)
        return RequestOutcome(Status.SKIPPED, reason="only noted")


def entry(**more: Any) -> LlmJudgeEntry:
    settings: dict[str, Any] = {
        "kind": "gemini", "title": "A judge", "provider": "any", "model": "some-model",
        "context_tokens": 100_000, "source": "a test", "checked": date(2026, 11, 21),
    }  # fmt: skip
    return LlmJudgeEntry(**settings | more)


def recorded(recorder: Recorder, **more: Any) -> LlmJudge:
    return LlmJudge("a_judge", entry(**more), recorder)


def at_server(
    server: ModelServer,
    work: Callable[[LlmJudge], Awaitable[ResultT]],
    ledger: MemoryLedger | None = None,
    **more: Any,
) -> ResultT:
    """What `work` gets from a judge whose model is this server."""
    kind = "gemini" if isinstance(server, GeminiServer) else "openai_chat"
    settings = entry(kind=kind, **more)
    kept = MemoryLedger() if ledger is None else ledger

    async def opened(address: str) -> ResultT:
        client = client_for(server, address, "test-key")
        sender = LiveSender(client, Limits(), None, Retries(tries=2, first_wait_seconds=0.01))
        gateway = Gateway(sender, kept, answers_as=None, price=None, budget=Budget())
        try:
            return await work(LlmJudge("a_judge", settings, gateway))
        finally:
            await gateway.close()

    with serving(server) as address:
        return asyncio.run(opened(address))
