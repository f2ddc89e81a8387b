"""A judge at work: with its model, its ledger, its limits and its budget, for one stage."""

import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import date

from tasks.batches import WarehouseBatchStore
from tasks.calls import WarehouseLedger
from tasks.configuration.models import LlmJudgeEntry
from tasks.judges.decisions import Judge
from tasks.judges.registry import judge, judge_entry
from tasks.model_clients import open_batch_client, open_client
from tasks.models.batch import BatchSender
from tasks.models.budget import Budget
from tasks.models.errors import Interrupted, Misconfigured, NoPrice
from tasks.models.gateway import Gateway, Sender
from tasks.models.live import LiveSender
from tasks.models.prices import ModelPrice, load_prices
from tasks.spending import budget_of
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.turns import turn


@dataclass(frozen=True)
class Session:
    """A judge that can be asked now."""

    judge: Judge
    gateway: Gateway | None
    """None for a judge that calls no model."""
    budget: Budget
    batch: BatchSender | None = None
    """What asks the model in batches; None where it is asked live."""

    async def room(self) -> None:
        """Wait until another cell should be started: the model would run out of work."""
        if self.gateway:
            await self.gateway.room()


_sessions: dict[tuple[Warehouse, str], Session] = {}


@asynccontextmanager
async def judging(
    warehouse: Warehouse,
    judge_name: str,
    *,
    batch: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> AsyncIterator[Session]:
    """While open, `session` gives this judge; closing waits for the answers under way.

    batch: ask in batches; a judge that calls no model has none.
    say: told what becomes of them.

    Raises:
        Misconfigured: it has no key or no batches, or its model is retired.
        NoPrice: a budget is set, and nobody knows what the model costs.
    """
    name, entry = judge_entry(judge_name)
    budget = budget_of(warehouse)
    async with AsyncExitStack() as stack:
        if batch:  # who takes up the open batches of a judge is the only one to
            await stack.enter_async_context(turn(warehouse.turns, f"batches of {name}", say))
        if isinstance(entry, LlmJudgeEntry):
            opened = await _opened(warehouse, name, entry, budget, say if batch else None)
        else:
            opened = Session(judge(name), None, budget)
        async with _at_work(warehouse, name, opened):
            yield opened


@asynccontextmanager
async def _at_work(warehouse: Warehouse, name: str, opened: Session) -> AsyncIterator[None]:
    """The session can be had by its key; what it has under way is waited for at the end."""
    _sessions[warehouse, name] = opened
    try:
        yield
    except BaseException:
        # Who is interrupted waits for what is under way, but neither for another try nor for a
        # batch: the next run goes on.
        if opened.gateway:
            opened.gateway.stop(Interrupted("the run was interrupted"))
        if opened.batch:
            opened.batch.leave()
        raise
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


def check_judge(
    name: str, entry: LlmJudgeEntry, budget_usd: float | None, today: date, *, batch: bool = False
) -> None:
    """Refuse what cannot end well, before anything is asked.

    Raises:
        Misconfigured: the model is retired, or has no key, or no batches although these are
            wanted.
        NoPrice: there is a budget but no price.
    """
    if entry.retires and today >= entry.retires:
        raise Misconfigured(
            f"configs/judges.yaml: the model of {name} ({entry.model}) was retired on "
            f"{entry.retires}: what answers in its place is another judge. Choose another one; "
            "the verdicts it has given stay."
        )
    if batch and entry.kind != "gemini" and not entry.batch_api:
        raise Misconfigured(
            f"The judge {name} cannot be asked in batches. Run without --batch, or set "
            "`batch_api: true` in configs/judges.yaml if its endpoint has OpenAI's Batch API."
        )
    needed = entry.key_env if entry.key_required and not entry.key_block else None
    if needed and not os.environ.get(needed, "").strip():
        raise Misconfigured(f"The judge {name} has no key: set the variable {entry.key_env}.")
    if budget_usd is not None and price_today(entry) is None:
        raise NoPrice(
            f"configs/prices.yaml has no price for {entry.model} of {entry.provider} on {today}, "
            "so a budget cannot be kept. Add its price, or run without --budget."
        )


def check_judges(names: Sequence[str], budget_usd: float | None, *, batch: bool = False) -> None:
    """`check_judge` for each that calls a model, today."""
    entries = [judge_entry(name) for name in names]
    models = [(name, entry) for name, entry in entries if isinstance(entry, LlmJudgeEntry)]
    if batch and not models:
        raise Misconfigured(
            f"{' and '.join(names)} calls no model: there is nothing to ask in batches. Name a "
            "judge that calls one, or run without --batch."
        )
    for name, entry in models:
        check_judge(name, entry, budget_usd, utc_now().date(), batch=batch)


async def _opened(
    warehouse: Warehouse,
    name: str,
    entry: LlmJudgeEntry,
    budget: Budget,
    batch: Callable[[str], None] | None,
) -> Session:
    """A session with a model; `batch` is told of its batches, None asks live."""
    check_judge(name, entry, budget.usd, utc_now().date(), batch=batch is not None)
    ledger = WarehouseLedger(warehouse)
    price = price_today(entry)
    batches = await _batch_sender(warehouse, name, entry, batch) if batch else None
    sender: Sender = batches or LiveSender(
        await open_client(name, entry), entry.limits, price, entry.retries
    )
    gateway = Gateway(
        sender,
        ledger,
        answers_as=entry.answers_as or ledger.known_version(entry.provider, entry.model),
        price=price,
        budget=budget,
        batch=batches is not None,
    )
    return Session(judge(name, gateway), gateway, budget, batches)


async def _batch_sender(
    warehouse: Warehouse, name: str, entry: LlmJudgeEntry, say: Callable[[str], None]
) -> BatchSender:
    """With what an earlier run left open taken up."""
    client = await open_batch_client(name, entry)
    store = WarehouseBatchStore(warehouse, entry.provider, entry.model, name)
    sender = BatchSender(
        client, store, provider=entry.provider, model=entry.model, judge=name, say=say
    )
    await sender.resume()
    return sender
