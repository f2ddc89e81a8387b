"""Runs of a judge that asks in batches: real clients, a real warehouse, servers over sockets."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from tasks.costs.ledger import WarehouseLedger
from tasks.judging.clients import WarehouseBatchStore
from tasks.models.batch_client import BatchClient
from tasks.models.batch_job import BatchTiming
from tasks.models.batch_sender import BatchSender
from tasks.models.exchange import ModelRequest
from tasks.models.gateway import Gateway, InvalidReply, RequestOutcome
from tasks.models.gemini_batch import GeminiBatchClient
from tasks.models.openai_batch import OpenAiBatchClient
from tasks.models.prices import Budget
from tasks.warehouse.calls import BatchJob, Call
from tasks.warehouse.store import Warehouse, open_warehouse
from tests.servers.asked import prompt_id
from tests.servers.batches import BatchScript
from tests.servers.faults import FaultPlan
from tests.servers.gemini import GeminiServer
from tests.servers.openai import OpenAiServer
from tests.servers.prompts_for_tests import MODEL, verify_claims
from tests.servers.serving import serving
from tests.tasks.models.test_prices import BATCH, price

KEY = "canary-key-3f9a7c"
Server = GeminiServer | OpenAiServer
QUICK = BatchTiming(
    idle_seconds=0.05, poll_seconds=0.02, longest_poll_seconds=0.05,
    creation_waits=(0.01, 0.01), failures=3,
)  # fmt: skip
REQUESTS = [verify_claims(note=f" Time {n}.") for n in range(1, 5)]
Work = Callable[[Gateway, BatchSender], Awaitable[Any]]


@dataclass
class Desk:
    """A warehouse and what is said, across the runs of a test."""

    warehouse: Warehouse
    said: list[str] = field(default_factory=list)

    def run(self, server: Server, work: Work, **options: Any) -> Any:
        """One run of the judge `j`, with everything of its own but the warehouse."""
        with serving(server) as address:
            return asyncio.run(self._run(server, address, work, options))

    def ask(
        self, server: Server, requests: list[ModelRequest] = REQUESTS
    ) -> list[RequestOutcome[str]]:
        async def work(gateway: Gateway, sender: BatchSender) -> list[RequestOutcome[str]]:
            return await asyncio.gather(*(gateway.ask(r, whole) for r in requests))

        found: list[RequestOutcome[str]] = self.run(server, work)
        return found

    def jobs(self) -> list[BatchJob]:
        """Those kept, by age."""
        return sorted(self.warehouse.rows(BatchJob, "true"), key=lambda job: job.created_at)

    def calls(self) -> list[Call]:
        return self.warehouse.rows(Call, "true")

    async def _run(self, server: Server, address: str, work: Work, options: Any) -> Any:
        usd, crash = options.pop("usd", None), options.pop("crash", False)
        reached = client(server, address)
        if options.pop("deaf", False):
            reached = cast(BatchClient, Deaf(reached))
        store = WarehouseBatchStore(self.warehouse, "any", MODEL, "j")
        sender = BatchSender(
            reached, store, provider="any", model=MODEL, judge="j",
            on_message=self.said.append, timing=QUICK, **options,
        )  # fmt: skip
        gateway = Gateway(
            sender, WarehouseLedger(self.warehouse), answers_as=MODEL, price=price(batch=BATCH),
            budget=Budget(usd), batch=True,
        )  # fmt: skip
        await sender.resume()
        try:
            found = await work(gateway, sender)
        finally:
            if not crash:
                await gateway.close()
        if not crash:
            return found
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()  # as everything stands; only the connections are given back
        await asyncio.sleep(0)
        await reached.close()
        return found


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with open_warehouse(tmp_path / "warehouse.duckdb") as warehouse:
        yield Desk(warehouse)


class Deaf:
    """A client that makes jobs and never hears that they were made."""

    def __init__(self, client: BatchClient) -> None:
        self._client = client
        self.create_for_real = client.create

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    async def create(self, name: str, requests: Mapping[str, ModelRequest]) -> str:
        await self.create_for_real(name, requests)
        await asyncio.Event().wait()
        return ""


def client(server: Server, address: str) -> BatchClient:
    if isinstance(server, GeminiServer):
        return GeminiBatchClient(KEY, base_url=address, connections=4, timeout_seconds=5)
    return OpenAiBatchClient(f"{address}/v1", KEY, connections=4, timeout_seconds=5)


def made(kind: type[Server], script: BatchScript | None = None, **options: Any) -> Any:
    return kind(key=KEY, batches=script, **options)


def whole(answer: str) -> str:
    if not answer:
        raise InvalidReply("nothing")
    return answer


def struck(fault: str, *requests: ModelRequest, times: int | None = None) -> FaultPlan:
    prompts = frozenset(prompt_id(request.messages[0].text) for request in requests)
    return FaultPlan((fault,), prompts=prompts, times=times)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 - of another thread's making
            await asyncio.sleep(0.005)


def killed_when(condition: Callable[[], object]) -> Work:
    """A run that asks and stops dead once `condition` holds."""

    async def work(gateway: Gateway, sender: BatchSender) -> list[asyncio.Task[Any]]:
        asking = [asyncio.create_task(gateway.ask(r, whole)) for r in REQUESTS]
        await until(condition)
        return asking

    return work
