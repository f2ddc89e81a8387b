"""A judge at work: with its model, its ledger, its limits and its budget, for one stage."""

import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import date
from typing import Any

from prefect.blocks.system import Secret

from tasks.calls import WarehouseLedger
from tasks.configuration.models import LlmJudgeEntry
from tasks.judges.decisions import Judge
from tasks.judges.registry import judge, judge_entry
from tasks.models.budget import Budget
from tasks.models.client import ModelClient
from tasks.models.errors import Misconfigured, NoPrice
from tasks.models.gateway import Gateway
from tasks.models.gemini import GeminiClient
from tasks.models.live import LiveSender
from tasks.models.openai_chat import OpenAiChatClient
from tasks.models.prices import ModelPrice, load_prices
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse

OPENAI_URL = "https://api.openai.com/v1"


@dataclass(frozen=True)
class Session:
    """A judge that can be asked now."""

    judge: Judge
    gateway: Gateway | None
    """None for a judge that calls no model."""
    budget: Budget

    async def room(self) -> None:
        """Wait until another cell should be started: the model would run out of work."""
        if self.gateway:
            await self.gateway.room()


_sessions: dict[tuple[Warehouse, str], Session] = {}
_budgets: dict[Warehouse, Budget] = {}


@contextmanager
def spending(warehouse: Warehouse, usd: float | None) -> Iterator[Budget]:
    """The money of one run, whatever its stages and judges are; None is no cap."""
    _budgets[warehouse] = Budget(usd)
    try:
        yield _budgets[warehouse]
    finally:
        del _budgets[warehouse]


@asynccontextmanager
async def judging(warehouse: Warehouse, judge_name: str) -> AsyncIterator[Session]:
    """While open, `session` gives this judge; closing waits for the answers under way.

    Raises:
        Misconfigured: it has no key, or its model is retired.
        NoPrice: a budget is set, and nobody knows what the model costs.
    """
    name, entry = judge_entry(judge_name)
    budget = _budgets.get(warehouse) or Budget()
    if not isinstance(entry, LlmJudgeEntry):
        opened = Session(judge(name), None, budget)
    else:
        gateway = await _gateway(warehouse, name, entry, budget)
        opened = Session(judge(name, gateway), gateway, budget)
    _sessions[warehouse, name] = opened
    try:
        yield opened
    finally:
        del _sessions[warehouse, name]
        if opened.gateway:
            await opened.gateway.close()


def session(warehouse: Warehouse, judge_name: str) -> Session:
    """The session that is open for a judge: how a task reaches it by key."""
    return _sessions[warehouse, judge_name]


def price_today(entry: LlmJudgeEntry) -> ModelPrice | None:
    """What the judge's model costs today; None where the price list does not say."""
    return load_prices().of(entry.provider, entry.model, utc_now().date())


def check_judge(name: str, entry: LlmJudgeEntry, budget_usd: float | None, today: date) -> None:
    """Refuse what cannot end well, before anything is asked.

    Raises:
        Misconfigured: the model is retired, or has no key.
        NoPrice: there is a budget but no price.
    """
    if entry.retires and today >= entry.retires:
        raise Misconfigured(
            f"configs/judges.yaml: the model of {name} ({entry.model}) was retired on "
            f"{entry.retires}: what answers in its place is another judge. Choose another one; "
            "the verdicts it has given stay."
        )
    needed = entry.key_env if entry.key_required and not entry.key_block else None
    if needed and not os.environ.get(needed, "").strip():
        raise Misconfigured(f"The judge {name} has no key: set the variable {entry.key_env}.")
    if budget_usd is not None and price_today(entry) is None:
        raise NoPrice(
            f"configs/prices.yaml has no price for {entry.model} of {entry.provider} on {today}, "
            "so a budget cannot be kept. Add its price, or run without --budget."
        )


def check_judges(names: Sequence[str], budget_usd: float | None) -> None:
    """`check_judge` for each that calls a model, today."""
    for name, entry in map(judge_entry, names):
        if isinstance(entry, LlmJudgeEntry):
            check_judge(name, entry, budget_usd, utc_now().date())


async def _gateway(
    warehouse: Warehouse, name: str, entry: LlmJudgeEntry, budget: Budget
) -> Gateway:
    check_judge(name, entry, budget.usd, utc_now().date())
    ledger = WarehouseLedger(warehouse)
    price = price_today(entry)
    client = await open_client(name, entry)
    return Gateway(
        LiveSender(client, entry.limits, price, entry.retries),
        ledger,
        answers_as=entry.answers_as or ledger.known_version(entry.provider, entry.model),
        price=price,
        budget=budget,
    )


async def open_client(name: str, entry: LlmJudgeEntry) -> ModelClient:
    """The judge's model, reachable.

    Raises:
        Misconfigured: it has no key.
    """
    key = await _key(name, entry)
    url = (os.environ.get(entry.base_url_env) if entry.base_url_env else None) or entry.base_url
    # Room for those that have answered and are still being read.
    connections = entry.limits.concurrency + entry.limits.concurrency // 5
    if entry.kind == "gemini":
        return GeminiClient(
            key or "", base_url=url, connections=connections, timeout_seconds=entry.timeout_seconds
        )
    return OpenAiChatClient(
        url or OPENAI_URL,
        key,
        connections=connections,
        timeout_seconds=entry.timeout_seconds,
        token_limit_field=entry.token_limit_field,
    )


async def _key(name: str, entry: LlmJudgeEntry) -> str | None:
    """The key, from the environment or a Prefect Secret block; never from a file."""
    if entry.key_env and (key := os.environ.get(entry.key_env, "").strip()):
        return key
    if entry.key_block and os.environ.get("PREFECT_API_URL"):
        try:
            block: Any = await Secret.aload(entry.key_block)
            return str(block.get())
        except ValueError:
            pass  # there is no such block: said below
    if not entry.key_required or (entry.key_env is None and entry.key_block is None):
        return None
    where = [f"set the variable {entry.key_env}"] if entry.key_env else []
    where += [f"make a Prefect Secret block {entry.key_block!r}"] if entry.key_block else []
    raise Misconfigured(f"The judge {name} has no key: {' or '.join(where)}.")
