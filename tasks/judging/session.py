"""Sessions with judges: a judge with its model, ledger, limits and budget, for one stage."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tasks.configuration.models import LlmJudgeEntry
from tasks.costs.ledger import WarehouseLedger
from tasks.judges.decisions import Judge
from tasks.judges.registry import load_judge, load_judge_entry
from tasks.judging.preconditions import check_judge, find_current_price
from tasks.models.errors import RunInterrupted
from tasks.run import RunContext
from tasks.warehouse.locks import hold_lock
from tasks.warehouse.rows import utc_now

if TYPE_CHECKING:
    from tasks.models.batch_sender import BatchSender
    from tasks.models.gateway import Gateway

ITEMS_PER_CALL = 2
"""Items that a process begins per concurrent call: one is asked about, the next is prepared."""


@dataclass(frozen=True)
class JudgeSession:
    """An open judge."""

    judge: Judge
    gateway: "Gateway | None" = None
    """None if the judge calls no model."""
    batch: "BatchSender | None" = None
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
    run: RunContext, judge_name: str, *, with_fallback: bool = False, live: bool = False
) -> AsyncIterator[JudgeSession]:
    """Open a judge; closing waits for calls under way.

    with_fallback: open its fallback, too, which is asked live about the items that it refuses.
    live: call the model without batches, also in a run that uses them.

    Raises:
        Misconfigured: it has no key or no batches, or its model is retired.
        UnknownPrice: there is a budget, but the model has no price.
    """
    name, entry = load_judge_entry(judge_name)
    batch = run.batch and not live
    async with AsyncExitStack() as stack:
        if batch:  # only one process may resume a judge's batches
            await stack.enter_async_context(
                hold_lock(run.store.locks, f"batches of {name}", run.on_message)
            )
        if isinstance(entry, LlmJudgeEntry):
            from tasks.judges.llm.judge import LlmJudge

            fallback: Judge | None = None
            if with_fallback and entry.fallback:
                other = judge_session(run, entry.fallback, live=True)
                fallback = (await stack.enter_async_context(other)).judge
            session = await _open_model_session(run, name, entry, batch=batch)
            if isinstance(session.judge, LlmJudge):
                session.judge.fallback = fallback
        else:
            session = JudgeSession(load_judge(name))
        async with _closing(session):
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


async def _open_model_session(
    run: RunContext, name: str, entry: LlmJudgeEntry, *, batch: bool
) -> JudgeSession:
    # Slow: HTTP clients, which commands that only look do not need.
    from tasks.judging.clients import open_client
    from tasks.models.gateway import Gateway
    from tasks.models.live_sender import LiveSender

    check_judge(name, entry, run.budget.usd, utc_now().date(), batch=batch)
    ledger = WarehouseLedger(run.store)
    price = find_current_price(entry)
    batches = await _open_batch_sender(run, name, entry) if batch else None
    gateway = Gateway(
        batches or LiveSender(await open_client(name, entry), entry.limits, price, entry.retries),
        ledger,
        answers_as=entry.answers_as or ledger.known_version(entry.provider, entry.model),
        price=price,
        budget=run.budget,
        batch=batch,
    )
    return JudgeSession(load_judge(name, gateway), gateway, batches, entry.limits.concurrency)


async def _open_batch_sender(run: RunContext, name: str, entry: LlmJudgeEntry) -> "BatchSender":
    """Open the sender of batches and resume those of an earlier run."""
    from tasks.judging.clients import WarehouseBatchStore, open_batch_client
    from tasks.models.batch_sender import BatchSender

    client = await open_batch_client(name, entry)
    store = WarehouseBatchStore(run.store, entry.provider, entry.model, name)
    sender = BatchSender(
        client, store, provider=entry.provider, model=entry.model, judge=name,
        on_message=run.on_message,
    )  # fmt: skip
    await sender.resume()
    return sender
