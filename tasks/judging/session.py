"""Sessions with judges: a judge with its model, ledger, limits and budget, for one stage; and what
is checked before any call, or by one."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from tasks.configuration.budgets import to_limit
from tasks.configuration.endings import find_judge_ending
from tasks.configuration.models import LlmJudgeEntry
from tasks.costs.ledger import WarehouseLedger
from tasks.judges.decisions import Judge
from tasks.judges.questions.verify_claims import VerifyClaims
from tasks.judges.registry import load_judge, load_judge_entry
from tasks.models.errors import Misconfigured, RunInterrupted, StopStage, UnknownPrice
from tasks.models.prices import Budget, ModelPrice, load_prices
from tasks.run import RunContext
from tasks.warehouse.calls import Call
from tasks.warehouse.locks import hold_lock
from tasks.warehouse.rows import Status, utc_now

if TYPE_CHECKING:
    from tasks.models.batch_sender import BatchSender
    from tasks.models.gateway import Gateway

ITEMS_PER_CALL = 2
"""Items that a process begins per concurrent call: one is asked about, the next is prepared."""
QUESTION = VerifyClaims(
    claims=("The bridge was opened in 1932.",),
    pool=("The bridge, opened in 1932, crosses the harbour.",),
    retrieved=((0,),),
)


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

    def count_answers(self) -> int:
        """Count the answers that the judge's model has given in this session."""
        return self.gateway.n_bought if self.gateway else 0

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


def find_current_price(entry: LlmJudgeEntry) -> ModelPrice | None:
    """Return the price of the judge's model today; None if the price list has none."""
    return load_prices().current(entry.provider, entry.model)


def check_judge(
    name: str, entry: LlmJudgeEntry, budget_usd: float | None, today: date, *, batch: bool = False
) -> None:
    """Check that a judge's model can be called.

    Raises:
        Misconfigured: the model is retired, has no key, or cannot be called in batches as wanted.
        UnknownPrice: there is a budget but no price.
    """
    if (ending := find_judge_ending(entry)) and ending.ends <= today:
        named = f"{ending.successor}, its successor, or another" if ending.successor else "another"
        raise Misconfigured(
            f"configs/judges.yaml: the model of {name} ({entry.model}) was retired on "
            f"{ending.ends}: what answers in its place is another judge. Choose {named}; the "
            "verdicts it has given stay."
        )
    if batch and entry.kind == "anthropic":
        raise Misconfigured(
            f"The judge {name} is of kind `anthropic`, which is not asked in batches here. Run "
            "without --batch."
        )
    if batch and entry.kind != "gemini" and not entry.batch_api:
        raise Misconfigured(
            f"The judge {name} cannot be asked in batches. Run without --batch, or set "
            "`batch_api: true` in configs/judges.yaml if its endpoint has OpenAI's Batch API."
        )
    if unset := entry.unset_variable:
        raise Misconfigured(f"The judge {name} has no key: set the variable {unset}.")
    if to_limit(budget_usd) is not None and find_current_price(entry) is None:
        raise UnknownPrice(
            f"configs/prices.yaml has no price for {entry.model} of {entry.provider} on {today}, "
            "so a budget cannot be kept. Add its price, or run without --budget."
        )


def check_judges(
    names: Sequence[str],
    budget_usd: float | None,
    *,
    batch: bool = False,
    with_fallbacks: bool = True,
) -> None:
    """Check today's state of each judge that calls a model, and of its fallback, as in
    `check_judge`."""
    entries = [load_judge_entry(name) for name in names]
    models = [(name, entry) for name, entry in entries if isinstance(entry, LlmJudgeEntry)]
    if batch and not models:
        raise Misconfigured(
            f"{' and '.join(names)} calls no model: there is nothing to ask in batches. Name a "
            "judge that calls one, or run without --batch."
        )
    for name, entry in models:
        check_judge(name, entry, budget_usd, utc_now().date(), batch=batch)
        if entry.fallback and with_fallbacks:
            _check_fallback(name, entry.fallback, budget_usd)


def _check_fallback(name: str, fallback: str, budget_usd: float | None) -> None:
    try:
        check_judges([fallback], budget_usd)
    except StopStage as error:
        raise type(error)(
            f"{error} It is the `fallback` of {name} in configs/judges.yaml: without that line, "
            "what that judge refuses stays blocked."
        ) from None


class NoLedger:
    """A ledger that stores nothing, so that every check of a judge calls the model."""

    def lock_request(self, request_id: str) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def load_attempts(self, request_id: str) -> list[Call]:
        return []

    async def save(self, call: Call, *, replace: bool) -> None:
        """Forget it."""


async def check_judge_live(name: str, entry: LlmJudgeEntry) -> str:
    """Check a judge with one cheap call that is not stored: return the model version it answered
    as, its answer, and the call's cost.

    Raises:
        StopStage: a missing or wrong key, an unknown model or another version; says what to do.
        Misconfigured: its answer is unusable.
    """
    from tasks.judging.clients import open_client
    from tasks.models.gateway import Gateway
    from tasks.models.live_sender import LiveSender

    check_judge(name, entry, None, utc_now().date())
    price = find_current_price(entry)
    few = entry.retries.model_copy(update={"tries": 2, "rate_limit_tries": 2})
    sender = LiveSender(await open_client(name, entry), entry.limits, price, few)
    gateway = Gateway(sender, NoLedger(), answers_as=entry.answers_as, price=price, budget=Budget())
    try:
        [answer] = await load_judge(name, gateway).decide(QUESTION)
    finally:
        await gateway.close()
    if answer.status is not Status.OK:
        raise Misconfigured(f"The judge {name} gave no usable answer: {answer.reason}")
    cost = f"${gateway.spent:.6f}" if price else "price unknown"
    return f"answers as {answer.model_version}; said {answer.label} ({cost})."
