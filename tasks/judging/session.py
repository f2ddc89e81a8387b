"""Sessions with judges: a judge with its model, ledger, limits and budget, for one stage."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from tasks.configuration.models import LlmJudgeEntry
from tasks.costs.budget import get_budget
from tasks.costs.ledger import WarehouseLedger
from tasks.judges.decisions import Judge
from tasks.judges.registry import load_judge, load_judge_entry
from tasks.judging.clients import WarehouseBatchStore, open_batch_client, open_client
from tasks.judging.preconditions import check_judge, find_current_price
from tasks.models.batch_sender import BatchSender
from tasks.models.errors import RunInterrupted
from tasks.models.gateway import Gateway, Sender
from tasks.models.live_sender import LiveSender
from tasks.warehouse.locks import hold_lock
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse

ITEMS_PER_CALL = 2
"""Items that a process begins per concurrent call: one is asked about, the next is prepared."""


@dataclass(frozen=True)
class JudgeSession:
    """An open judge."""

    judge: Judge
    gateway: Gateway | None = None
    """None if the judge calls no model."""
    batch: BatchSender | None = None
    """The sender of batches; None for live calls."""
    max_calls: int | None = None
    """The limit on concurrent calls; None if the judge calls no model."""

    def limit_concurrency(self, most: int) -> int | None:
        """Return how many items to ask about at a time; None: all, since a batch takes hours
        whatever its size.

        A process begins only as many as keep its model busy: the others wait for what it has begun.
        """
        if self.batch:
            return None
        return most if self.max_calls is None else min(most, ITEMS_PER_CALL * self.max_calls)

    async def wait_for_capacity(self) -> None:
        """Wait until the model needs more work, so that another cell should start."""
        if self.gateway:
            await self.gateway.wait_for_capacity()


@asynccontextmanager
async def judge_session(
    warehouse: Warehouse,
    judge_name: str,
    *,
    batch: bool = False,
    with_fallback: bool = False,
    on_message: Callable[[str], None] = lambda text: None,
) -> AsyncIterator[JudgeSession]:
    """Open a judge for `get_judge_session`; closing waits for calls under way.

    batch: call the model in batches; no effect on a judge that calls no model.
    with_fallback: open its fallback, too, which is asked live about the items that it refuses.
    on_message: called with the progress of batches.

    Raises:
        Misconfigured: it has no key or no batches, or its model is retired.
        UnknownPrice: there is a budget, but the model has no price.
    """
    name, entry = load_judge_entry(judge_name)
    async with AsyncExitStack() as stack:
        if batch:  # only one process may resume a judge's batches
            await stack.enter_async_context(
                hold_lock(warehouse.locks, f"batches of {name}", on_message)
            )
        if isinstance(entry, LlmJudgeEntry):
            from tasks.judges.llm.judge import LlmJudge

            fallback: Judge | None = None
            if with_fallback and entry.fallback:
                other = judge_session(warehouse, entry.fallback)
                fallback = (await stack.enter_async_context(other)).judge
            session = await _open_model_session(
                warehouse, name, entry, on_message if batch else None
            )
            if isinstance(session.judge, LlmJudge):
                session.judge.fallback = fallback
        else:
            session = JudgeSession(load_judge(name))
        async with _closing(session):
            with warehouse.context.hold(session, name):
                yield session


@asynccontextmanager
async def _closing(session: JudgeSession) -> AsyncIterator[None]:
    """At the end wait for the session's calls under way."""
    try:
        yield
    except BaseException:
        # An interrupted run waits for calls under way, but not for retries or batches: the next
        # run continues them.
        if session.gateway:
            session.gateway.stop(RunInterrupted("the run was interrupted"))
        if session.batch:
            session.batch.cancel_waiting()
        raise
    finally:
        if session.gateway:
            await session.gateway.close()


def get_judge_session(warehouse: Warehouse, judge_name: str) -> JudgeSession:
    """Return the open session of a judge."""
    return warehouse.context.get(JudgeSession, judge_name)


async def _open_model_session(
    warehouse: Warehouse,
    name: str,
    entry: LlmJudgeEntry,
    batch: Callable[[str], None] | None,
) -> JudgeSession:
    """Open a session with a model. batch: called with the progress of batches; None: live calls."""
    budget = get_budget(warehouse)
    check_judge(name, entry, budget.usd, utc_now().date(), batch=batch is not None)
    ledger = WarehouseLedger(warehouse)
    price = find_current_price(entry)
    batches = await _open_batch_sender(warehouse, name, entry, batch) if batch else None
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
    return JudgeSession(load_judge(name, gateway), gateway, batches, entry.limits.concurrency)


async def _open_batch_sender(
    warehouse: Warehouse, name: str, entry: LlmJudgeEntry, on_message: Callable[[str], None]
) -> BatchSender:
    """Open the sender of batches and resume those of an earlier run."""
    client = await open_batch_client(name, entry)
    store = WarehouseBatchStore(warehouse, entry.provider, entry.model, name)
    sender = BatchSender(
        client, store, provider=entry.provider, model=entry.model, judge=name, on_message=on_message
    )
    await sender.resume()
    return sender
