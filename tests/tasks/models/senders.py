"""Senders at real model servers, some questions of which are struck by faults."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from tasks.configuration.models import Limits, Retries
from tasks.models.exchange import Reply
from tasks.models.live_sender import LiveSender
from tests.servers.asked import prompt_id
from tests.servers.base import ModelServer
from tests.servers.faults import FaultPlan
from tests.servers.prompts_for_tests import verify_claims, without_sampling
from tests.servers.serving import serving
from tests.servers.test_servers import client_for
from tests.tasks.models.test_prices import price

ResultT = TypeVar("ResultT")
QUICK = Retries(tries=4, rate_limit_tries=6, first_wait_seconds=0.01, longest_wait_seconds=0.02)
FIRST = without_sampling(verify_claims())
LATER = without_sampling(verify_claims(note=" Again."))
"""The first question of a client finds out how to ask; the later one is struck by faults."""


def sending(
    server: ModelServer,
    work: Callable[[LiveSender], Awaitable[ResultT]],
    retries: Retries = QUICK,
    limits: Limits | None = None,
    timeout: float = 5.0,
) -> ResultT:
    """What `work` makes of a sender that has asked once already."""

    async def opened(address: str) -> ResultT:
        client = client_for(server, address, "test-key", timeout)
        sender = LiveSender(client, limits or Limits(), price(), retries)
        try:
            await sender.send(FIRST)
            return await work(sender)
        finally:
            await sender.close()

    with serving(server) as address:
        return asyncio.run(opened(address))


def struck(kind: type[ModelServer], *faults: str, **plan: Any) -> ModelServer:
    return kind(faults=FaultPlan(faults, prompts=frozenset([prompt_id(LATER.prompt)]), **plan))


def n_asked(server: ModelServer) -> int:
    """How often the later question was asked."""
    asked = prompt_id(LATER.prompt)
    return sum(entry.prompt_id == asked for entry in server.log.entries)


async def later(sender: LiveSender) -> Reply | Exception:
    try:
        return await sender.send(LATER)
    except Exception as error:
        return error
