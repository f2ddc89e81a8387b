"""The gateway to a model: no answer is bought twice, and none is lost.

A request is looked up in the ledger first; concurrent equal requests share one call; an answer
is in the ledger before anybody uses it. An unusable answer is requested once more per run, and
both are kept.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from tasks.configuration.budgets import to_limit
from tasks.models.errors import ModelDrift, RequestRejected, StopStage, TransientError, UnknownPrice
from tasks.models.exchange import ModelRequest, Reply, make_call, make_failed_call, same_model
from tasks.models.prices import Budget, BudgetReservation, ModelPrice
from tasks.warehouse.calls import Call
from tasks.warehouse.rows import Status, utc_now

ValueT = TypeVar("ValueT")
ANSWERS_PER_RUN = 2
"""Answers bought for a request in one run: the first, and one repair."""
ANSWER_BYTES = 16_384
"""Room on the disk for an answer, beside twice its prompt."""
ADMISSION_TIMEOUT_SECONDS = 1.0
"""How long an admitted caller may take to send before the next is admitted regardless."""
VERDICT_STATUS = {
    "truncated": Status.UNPARSABLE,
    "empty": Status.UNPARSABLE,
    "refused": Status.BLOCKED,
    "blocked": Status.BLOCKED,
    "failed": Status.JUDGE_ERROR,
}
"""The verdict status for each call status without a usable answer."""


class InvalidReply(ValueError):
    """An answer is complete but unusable; the message says why."""


@dataclass(frozen=True)
class RequestOutcome(Generic[ValueT]):
    """The outcome of a request: a value, or the reason why there is none."""

    status: Status
    value: ValueT | None = None
    reason: str | None = None
    call: Call | None = None


class Ledger(Protocol):
    """A store of calls."""

    async def load_attempts(self, request_id: str) -> Sequence[Call]:
        """Return all stored calls of a request, by attempt."""

    async def save(self, call: Call, *, replace: bool) -> None:
        """Store a call; return once it is committed.

        replace: whether a failed call of the same id is replaced.
        """

    def lock_request(self, request_id: str) -> AbstractAsyncContextManager[None]:
        """Within the block, nobody else who shares the ledger sends this request."""


class Sender(Protocol):
    """Sends requests, one answer each."""

    async def send(
        self, request: ModelRequest, on_lost: Callable[[], Awaitable[None]] | None = None
    ) -> Reply:
        """Return the answer; raise TransientError, RequestRejected or StopStage.

        on_lost: awaited after each try whose answer was lost although it may be billed, before
            the next try.
        """

    async def wait_for_capacity(self) -> None:
        """Wait until more work should be prepared."""

    def stop(self, error: StopStage) -> None:
        """Send nothing more."""

    async def close(self) -> None:
        """Close connections and release all resources."""


class Gateway:
    """A judge's access to its model, for one run."""

    def __init__(
        self,
        sender: Sender,
        ledger: Ledger,
        *,
        answers_as: str | None,
        price: ModelPrice | None,
        budget: Budget,
        batch: bool = False,
    ) -> None:
        self._sender = sender
        self._ledger = ledger
        self._answers_as = answers_as
        self._price = price
        self._budget = budget
        self._batch = batch
        self._under_way: dict[str, asyncio.Task[RequestOutcome[Any]]] = {}
        self._admission = asyncio.Lock()
        self._asked = asyncio.Event()
        self._asked.set()
        self._first_over = asyncio.Event()
        self._is_first_begun = batch  # a batch takes hours, whatever its size
        if batch:
            self._first_over.set()
        self.n_bought = 0
        """Answers received in this run, usable or not."""
        self.n_from_ledger = 0
        """Requests answered from the ledger."""

    @property
    def spent(self) -> float:
        """USD spent in this run so far."""
        return self._budget.spent

    async def wait_for_capacity(self) -> None:
        """Wait until the model would otherwise run out of work; admit one caller at a time.

        The next caller waits until this one has sent its request, so that not all are admitted
        when there is capacity for a few.
        """
        async with self._admission:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._asked.wait(), ADMISSION_TIMEOUT_SECONDS)
            await self._sender.wait_for_capacity()
            self._asked.clear()

    async def ask(
        self, request: ModelRequest, read: Callable[[str], ValueT]
    ) -> RequestOutcome[ValueT]:
        """Return the value that `read` parses from the model's answer.

        Args:
            read: raises InvalidReply if an answer is unusable.

        Raises:
            StopStage: no further call can succeed or is allowed.
        """
        self._asked.set()
        task = self._under_way.get(request.request_id)
        if task is None:
            task = asyncio.create_task(self._answer(request, read))
            self._under_way[request.request_id] = task
            task.add_done_callback(lambda done: self._finish(request.request_id, done))
        # Cancelling a caller does not cancel the call: its answer is paid for.
        return await asyncio.shield(task)

    def stop(self, error: StopStage) -> None:
        """Send nothing more; calls under way may still be answered."""
        self._sender.stop(error)

    async def close(self) -> None:
        """Wait for the calls under way, then close the connections."""
        while self._under_way:
            await asyncio.gather(*self._under_way.values(), return_exceptions=True)
        await self._sender.close()

    def _finish(self, request_id: str, task: asyncio.Task[RequestOutcome[Any]]) -> None:
        self._under_way.pop(request_id, None)
        if not task.cancelled():
            task.exception()  # retrieved: all its callers may have been cancelled

    async def _answer(
        self, request: ModelRequest, read: Callable[[str], ValueT]
    ) -> RequestOutcome[ValueT]:
        async with self._ledger.lock_request(request.request_id):
            return await self._find_or_buy(request, read)

    async def _find_or_buy(
        self, request: ModelRequest, read: Callable[[str], ValueT]
    ) -> RequestOutcome[ValueT]:
        known = list(await self._ledger.load_attempts(request.request_id))
        ours = [call for call in known if call.status != "failed" and self._is_ours(call)]
        for call in ours:
            outcome = _make_outcome(call, read)
            final = outcome.status is Status.BLOCKED and len(ours) >= ANSWERS_PER_RUN
            if outcome.status is Status.OK or (final and call is ours[-1]):
                self.n_from_ledger += 1
                return outcome
        last = ours[-1] if ours else None
        for _ in range(ANSWERS_PER_RUN):
            last = await self._buy(request, _make_follow_up(request, last, read), known)
            outcome = _make_outcome(last, read)
            if outcome.status in (Status.OK, Status.JUDGE_ERROR):
                break
            known.append(last)
        return outcome

    def _is_ours(self, call: Call) -> bool:
        return self._answers_as is None or same_model(call.model_version, self._answers_as)

    async def _buy(self, request: ModelRequest, asked: ModelRequest, known: Sequence[Call]) -> Call:
        """Buy one answer and store it in the ledger; status `failed` if none came.

        The first call of a run is made alone: if another model answers, no more are bought.
        """
        if self._is_first_begun:
            await self._first_over.wait()
            return await self._buy_now(request, asked, known)
        self._is_first_begun = True
        try:
            return await self._buy_now(request, asked, known)
        finally:
            self._first_over.set()

    async def _buy_now(
        self, request: ModelRequest, asked: ModelRequest, known: Sequence[Call]
    ) -> Call:
        number = 1 + max((c.attempt for c in known if c.status != "failed"), default=0)
        started = utc_now()
        money = BudgetReservation(self._budget, 2 * asked.prompt_bytes + ANSWER_BYTES)
        await money.reserve(self._max_cost(asked))

        async def on_lost() -> None:
            await money.settle(None)
            await money.reserve(self._max_cost(asked))  # the price may have changed meanwhile

        cost: float | None = None
        maybe_billed = False
        try:
            try:
                reply = await self._sender.send(asked, on_lost)
                if self._price:
                    sent_at = reply.sent_at or started
                    cost = self._price.of(reply.usage, batch=self._batch, sent_at=sent_at)
                maybe_billed = True
                call = make_call(request, asked, number, reply, cost)
            except (TransientError, RequestRejected) as error:
                maybe_billed = getattr(error, "maybe_billed", False)
                delivery = "batch" if self._batch else "live"
                call = make_failed_call(request, asked, number, error, delivery)
            again = any(c.attempt == number and c.status == "failed" for c in known)
            await self._ledger.save(call, replace=again)
        finally:  # once it is kept, since until then its room is not taken
            await money.settle(cost, maybe_billed=maybe_billed)
        if call.status != "failed":
            self.n_bought += 1
            self._check_version(call)
        return call

    def _max_cost(self, request: ModelRequest) -> float:
        if self._price is not None:
            return self._price.max_cost(request, batch=self._batch)
        if to_limit(self._budget.usd) is not None:
            raise UnknownPrice(
                f"configs/prices.yaml has no price for {request.model} of {request.provider} "
                "today, so a budget cannot be kept. Add its price, or run without --budget."
            )
        return 0.0

    def _check_version(self, call: Call) -> None:
        """Raise ModelDrift for another version; the first answer pins an unpinned judge."""
        if self._answers_as is None:
            self._answers_as = call.model_version
        elif not same_model(call.model_version, self._answers_as):
            drift = ModelDrift(
                f"{call.model} answered as {call.model_version!r}, but the judge {call.judge} "
                f"is pinned to {self._answers_as!r}: its verdicts would not be comparable. The "
                "answer is kept, but makes no verdict. Add a judge for the new version to "
                "configs/judges.yaml (`answers_as`), or pin an endpoint that serves the old one."
            )
            self._sender.stop(drift)
            raise drift


def _make_outcome(call: Call, read: Callable[[str], ValueT]) -> RequestOutcome[ValueT]:
    """Return the outcome of a stored call."""
    if call.status != "ok":
        said = call.error or call.finish or "nothing"
        reason = f"{call.status} (attempt {call.attempt}): {said}"
        return RequestOutcome(VERDICT_STATUS[call.status], reason=reason, call=call)
    try:
        return RequestOutcome(Status.OK, value=read(call.answer or ""), call=call)
    except InvalidReply as problem:
        reason = f"unusable (attempt {call.attempt}): {problem}"
        return RequestOutcome(Status.UNPARSABLE, reason=reason, call=call)


def _make_follow_up(
    request: ModelRequest, last: Call | None, read: Callable[[str], Any]
) -> ModelRequest:
    """Return the request to send after the unusable `last`: longer, or with a correction."""
    if last is not None and last.status == "truncated":
        longer = {"max_output_tokens": 2 * request.parameters.max_output_tokens}
        parameters = request.parameters.model_copy(update=longer)
        return request.model_copy(update={"parameters": parameters})
    if last is not None and last.status == "ok":
        try:
            read(last.answer or "")
        except InvalidReply as problem:
            return request.with_correction(last.answer or "", str(problem))
    return request
