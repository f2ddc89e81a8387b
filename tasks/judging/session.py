"""A judge at work: with its model, its ledger, its limits and its budget, for one stage."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from tasks.configuration.models import LlmJudgeEntry
from tasks.costs.budget import budget_of
from tasks.costs.ledger import WarehouseLedger
from tasks.judges.decisions import Judge
from tasks.judges.registry import judge, judge_entry
from tasks.judging.batches import WarehouseBatchStore
from tasks.judging.clients import open_batch_client, open_client
from tasks.judging.preconditions import check_judge, price_today
from tasks.models.batch import BatchSender
from tasks.models.budget import Budget
from tasks.models.errors import Interrupted
from tasks.models.gateway import Gateway, Sender
from tasks.models.live import LiveSender
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.turns import turn


@dataclass(frozen=True)
class JudgeSession:
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


_sessions: dict[tuple[Warehouse, str], JudgeSession] = {}


@asynccontextmanager
async def judge_session(
    warehouse: Warehouse,
    judge_name: str,
    *,
    batch: bool = False,
    on_message: Callable[[str], None] = lambda text: None,
) -> AsyncIterator[JudgeSession]:
    """While open, `session` gives this judge; closing waits for the answers under way.

    batch: ask in batches; a judge that calls no model has none.
    on_message: called with what becomes of them.

    Raises:
        Misconfigured: it has no key or no batches, or its model is retired.
        NoPrice: a budget is set, and nobody knows what the model costs.
    """
    name, entry = judge_entry(judge_name)
    budget = budget_of(warehouse)
    async with AsyncExitStack() as stack:
        if batch:  # who takes up the open batches of a judge is the only one to
            await stack.enter_async_context(turn(warehouse.turns, f"batches of {name}", on_message))
        if isinstance(entry, LlmJudgeEntry):
            opened = await _opened(warehouse, name, entry, budget, on_message if batch else None)
        else:
            opened = JudgeSession(judge(name), None, budget)
        async with _at_work(warehouse, name, opened):
            yield opened


@asynccontextmanager
async def _at_work(warehouse: Warehouse, name: str, opened: JudgeSession) -> AsyncIterator[None]:
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


def session(warehouse: Warehouse, judge_name: str) -> JudgeSession:
    """The session that is open for a judge: how a task reaches it by key."""
    return _sessions[warehouse, judge_name]


async def _opened(
    warehouse: Warehouse,
    name: str,
    entry: LlmJudgeEntry,
    budget: Budget,
    batch: Callable[[str], None] | None,
) -> JudgeSession:
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
    return JudgeSession(judge(name, gateway), gateway, budget, batches)


async def _batch_sender(
    warehouse: Warehouse, name: str, entry: LlmJudgeEntry, on_message: Callable[[str], None]
) -> BatchSender:
    """With what an earlier run left open taken up."""
    client = await open_batch_client(name, entry)
    store = WarehouseBatchStore(warehouse, entry.provider, entry.model, name)
    sender = BatchSender(
        client, store, provider=entry.provider, model=entry.model, judge=name, on_message=on_message
    )
    await sender.resume()
    return sender
