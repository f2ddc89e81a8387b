"""Asking a model without buying anything twice and without losing an answer.

A request is looked up in the ledger first; two askers of the same share one call; what comes
back is in the ledger before anybody acts on it. An answer that cannot be used is asked for
once more in a run, and both are kept.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from tasks.models.budget import Budget
from tasks.models.errors import ModelDrift, NoPrice, Rejected, StopsTheStage, Transient
from tasks.models.exchange import ModelRequest, Reply, call_id
from tasks.models.prices import ModelPrice
from tasks.warehouse.calls import Call
from tasks.warehouse.rows import Status

ValueT = TypeVar("ValueT")
ASKED_PER_RUN = 2
"""Answers bought for one request in one run: the first, and one repair."""
PREPARING_SECONDS = 1.0
"""How long an asker that was let in may take before the next is let in all the same."""
STATUS_OF = {
    "truncated": Status.UNPARSABLE,
    "empty": Status.UNPARSABLE,
    "refused": Status.BLOCKED,
    "blocked": Status.BLOCKED,
    "failed": Status.JUDGE_ERROR,
}
"""What it means for a decision that its call ended so."""


class InvalidReply(ValueError):
    """An answer that is whole but cannot be used; the message says what is wrong with it."""


@dataclass(frozen=True)
class Outcome(Generic[ValueT]):
    """What became of one request: a value, or why there is none."""

    status: Status
    value: ValueT | None = None
    reason: str | None = None
    call: Call | None = None


class Ledger(Protocol):
    """Where calls are kept."""

    async def attempts(self, request_id: str) -> Sequence[Call]:
        """Everything known of a request, by attempt."""

    async def keep(self, call: Call, *, again: bool) -> None:
        """Returns once it is committed; `again`: a failed call of the same id is replaced."""

    def alone(self, request_id: str) -> AbstractAsyncContextManager[None]:
        """Within the block nobody else who shares the ledger asks for this request."""


class Sender(Protocol):
    """Gets one answer to one request."""

    async def send(
        self, request: ModelRequest, lost: Callable[[], Awaitable[None]] | None = None
    ) -> Reply:
        """Raises Transient, Rejected or StopsTheStage.

        lost: awaited after each try whose answer did not come although it may be billed, before
            the next one.
        """

    async def room(self) -> None:
        """Wait until more work should be prepared."""

    def stop(self, error: StopsTheStage) -> None:
        """Send nothing more."""

    async def close(self) -> None:
        """Give back what it holds."""


class Gateway:
    """One model as one judge asks it, for one run."""

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
        self._under_way: dict[str, asyncio.Task[Outcome[Any]]] = {}
        self._admission = asyncio.Lock()
        self._asked = asyncio.Event()
        self._asked.set()
        self.n_bought = 0
        """Answers that came in this run, used or not."""
        self.n_found = 0
        """Requests that the ledger could answer."""

    @property
    def spent(self) -> float:
        """USD of this run so far."""
        return self._budget.spent

    async def room(self) -> None:
        """Wait until the model would otherwise run out of work; then one asker may come.

        The next waits until that one has asked, so that the few whom there is room for do not
        become all who wait.
        """
        async with self._admission:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._asked.wait(), PREPARING_SECONDS)
            await self._sender.room()
            self._asked.clear()

    async def ask(self, request: ModelRequest, read: Callable[[str], ValueT]) -> Outcome[ValueT]:
        """The value `read` makes of the model's answer.

        Args:
            read: raises InvalidReply where an answer cannot be used.

        Raises:
            StopsTheStage: no further call can succeed, or may be made.
        """
        self._asked.set()
        task = self._under_way.get(request.request_id)
        if task is None:
            task = asyncio.create_task(self._answered(request, read))
            self._under_way[request.request_id] = task
            task.add_done_callback(lambda done: self._ended(request.request_id, done))
        # An asker that is cancelled leaves the call under way: its answer has been paid for.
        return await asyncio.shield(task)

    def stop(self, error: StopsTheStage) -> None:
        """Send nothing more; what is under way may still be answered."""
        self._sender.stop(error)

    async def close(self) -> None:
        """Wait for the answers that are still to come, then close the connections."""
        while self._under_way:
            await asyncio.gather(*self._under_way.values(), return_exceptions=True)
        await self._sender.close()

    def _ended(self, request_id: str, task: asyncio.Task[Outcome[Any]]) -> None:
        self._under_way.pop(request_id, None)
        if not task.cancelled():
            task.exception()  # seen: its askers may all have been cancelled

    async def _answered(
        self, request: ModelRequest, read: Callable[[str], ValueT]
    ) -> Outcome[ValueT]:
        async with self._ledger.alone(request.request_id):
            return await self._found_or_bought(request, read)

    async def _found_or_bought(
        self, request: ModelRequest, read: Callable[[str], ValueT]
    ) -> Outcome[ValueT]:
        known = list(await self._ledger.attempts(request.request_id))
        ours = [call for call in known if call.status != "failed" and self._is_ours(call)]
        for call in ours:
            outcome = _outcome(call, read)
            final = outcome.status is Status.BLOCKED and len(ours) >= ASKED_PER_RUN
            if outcome.status is Status.OK or (final and call is ours[-1]):
                self.n_found += 1
                return outcome
        last = ours[-1] if ours else None
        for _ in range(ASKED_PER_RUN):
            last = await self._buy(request, _asked_again(request, last, read), known)
            outcome = _outcome(last, read)
            if outcome.status in (Status.OK, Status.JUDGE_ERROR):
                break
            known.append(last)
        return outcome

    def _is_ours(self, call: Call) -> bool:
        return self._answers_as is None or call.model_version == self._answers_as

    async def _buy(self, request: ModelRequest, asked: ModelRequest, known: Sequence[Call]) -> Call:
        """One answer, in the ledger when this returns; `failed` where none came."""
        number = 1 + max((c.attempt for c in known if c.status != "failed"), default=0)
        most = held = self._at_most(asked)
        await self._budget.reserve(most)

        async def lost() -> None:
            nonlocal held
            await self._budget.settle(most, None, maybe_billed=True)
            held = 0.0  # until it is reserved again, for a try that may not fit any more
            await self._budget.reserve(most)
            held = most

        cost: float | None = None
        maybe_billed = False
        try:
            reply = await self._sender.send(asked, lost)
            cost = self._price.of(reply.usage, batch=self._batch) if self._price else None
            maybe_billed = True
            call = _call(request, asked, number, reply, cost)
        except (Transient, Rejected) as error:
            maybe_billed = getattr(error, "maybe_billed", False)
            call = _failed(request, asked, number, error, "batch" if self._batch else "live")
        finally:
            await self._budget.settle(held, cost, maybe_billed=maybe_billed)
        again = any(c.attempt == number and c.status == "failed" for c in known)
        await self._ledger.keep(call, again=again)
        if call.status != "failed":
            self.n_bought += 1
            self._check_version(call)
        return call

    def _at_most(self, request: ModelRequest) -> float:
        if self._price is not None:
            return self._price.at_most(request, batch=self._batch)
        if self._budget.usd is not None:
            raise NoPrice(
                f"configs/prices.yaml has no price for {request.model} of {request.provider} "
                "today, so a budget cannot be kept. Add its price, or run without --budget."
            )
        return 0.0

    def _check_version(self, call: Call) -> None:
        """The first answer pins a judge that is not pinned by its configuration."""
        if self._answers_as is None:
            self._answers_as = call.model_version
        elif call.model_version != self._answers_as:
            drift = ModelDrift(
                f"{call.model} answered as {call.model_version!r}, but the judge {call.judge} "
                f"is pinned to {self._answers_as!r}: its verdicts would not be comparable. The "
                "answer is kept and makes no verdict. Add a judge for the new version to "
                "configs/judges.yaml (`answers_as`), or pin an endpoint that serves the old one."
            )
            self._sender.stop(drift)
            raise drift


def _outcome(call: Call, read: Callable[[str], ValueT]) -> Outcome[ValueT]:
    """What a call means for the decision it was made for."""
    if call.status != "ok":
        said = call.error or call.finish or "nothing"
        reason = f"{call.status} (attempt {call.attempt}): {said}"
        return Outcome(STATUS_OF[call.status], reason=reason, call=call)
    try:
        return Outcome(Status.OK, value=read(call.answer or ""), call=call)
    except InvalidReply as problem:
        reason = f"unusable (attempt {call.attempt}): {problem}"
        return Outcome(Status.UNPARSABLE, reason=reason, call=call)


def _asked_again(
    request: ModelRequest, last: Call | None, read: Callable[[str], Any]
) -> ModelRequest:
    """The request as it is sent after `last`, which could not be used."""
    if last is not None and last.status == "truncated":
        longer = {"max_output_tokens": 2 * request.parameters.max_output_tokens}
        parameters = request.parameters.model_copy(update=longer)
        return request.model_copy(update={"parameters": parameters})
    if last is not None and last.status == "ok":
        try:
            read(last.answer or "")
        except InvalidReply as problem:
            return request.repaired(last.answer or "", str(problem))
    return request


def _call(
    request: ModelRequest, asked: ModelRequest, attempt: int, reply: Reply, cost: float | None
) -> Call:
    return Call(
        **_asked(request, asked, attempt),
        status=reply.finish,
        answer=reply.text or None,
        raw=reply.raw,
        finish=reply.stop_reason,
        model_version=reply.model_version,
        response_id=reply.response_id,
        delivery=reply.delivery,
        prompt_tokens=reply.usage.prompt,
        cached_tokens=reply.usage.cached,
        output_tokens=reply.usage.output,
        thinking_tokens=reply.usage.thinking,
        cost_usd=cost,
        latency_seconds=reply.latency_seconds,
        tries=reply.tries,
    )


def _failed(
    request: ModelRequest,
    asked: ModelRequest,
    attempt: int,
    error: Transient | Rejected,
    delivery: str,
) -> Call:
    kind = error.kind if isinstance(error, Transient) else "rejected"
    return Call(
        **_asked(request, asked, attempt),
        status="failed",
        error=f"{kind}: {error}"[:2000],
        delivery=delivery,
        tries=getattr(error, "tries", 1),
    )


def _asked(request: ModelRequest, asked: ModelRequest, attempt: int) -> dict[str, Any]:
    purpose = request.purpose
    return {
        "call_id": call_id(request.request_id, attempt),
        "request_id": request.request_id,
        "attempt": attempt,
        "provider": request.provider,
        "model": request.model,
        "parameters": asked.parameters.canonical(),
        "reply_schema": request.reply_schema,
        "system_prompt": request.system,
        "prompt": asked.prompt,
        "prompt_sha": purpose.prompt_sha,
        "judge": purpose.judge,
        "protocol": purpose.protocol,
        "step": purpose.step,
    }
