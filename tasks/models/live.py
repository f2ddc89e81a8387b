"""Asking now: within the limits, and again where that may help.

The one place where network errors are retried. A prompt that fails for good does not hold up
the others, and waiting to try again holds no place among the calls at once.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type

from tasks.configuration.models import Limits, Retries
from tasks.models.client import ModelClient
from tasks.models.errors import Misconfigured, QuotaExhausted, StopsTheStage, Transient
from tasks.models.exchange import ModelRequest, Reply
from tasks.models.limits import AdaptiveConcurrency, Held, Rates
from tasks.models.prices import BYTES_PER_TOKEN, ModelPrice

Lost = Callable[[], Awaitable[None]]
UNREACHED_TRIES = 4
"""Of one request, all without a connection, until an endpoint that has never been reached is
taken to be down: a few seconds. One that has been reached gets all its tries."""


class LiveSender:
    """Sends requests of one model, one answer each."""

    def __init__(
        self,
        client: ModelClient,
        limits: Limits,
        price: ModelPrice | None,
        retries: Retries,
    ) -> None:
        self._client = client
        self._price = price
        self._retries = retries
        self._rates = Rates(limits)
        self.concurrency = AdaptiveConcurrency(limits.concurrency)
        self._stopped: StopsTheStage | None = None
        self._stopping = asyncio.Event()
        self._reached = False

    async def room(self) -> None:
        """Wait until more work should be prepared."""
        await self.concurrency.room()

    def stop(self, error: StopsTheStage) -> None:
        """Send nothing more: whatever still waits for its turn fails with this."""
        self._stopped = error
        self._stopping.set()

    async def send(self, request: ModelRequest, lost: Lost | None = None) -> Reply:
        """The model's answer, after as many tries as it takes.

        lost: awaited after a try whose answer did not come although it may be billed, before
            the next one.

        Raises:
            Transient: none of the tries brought an answer; `tries` says how many there were.
            Rejected, StopsTheStage: at the first try.
        """
        try:
            return await self._once(request)
        except Transient as error:
            return await self._again(request, error, lost)

    async def _again(self, request: ModelRequest, first: Transient, lost: Lost | None) -> Reply:
        """The tries after the first one, which has failed."""
        failed = first
        tries = 0
        try:
            async for attempt in AsyncRetrying(
                retry=retry_if_exception_type(Transient),
                stop=self._stop,
                wait=self._wait,
                sleep=self._sleep,
                reraise=True,
            ):
                with attempt:
                    tries += 1
                    if tries == 1:
                        raise first
                    if failed.maybe_billed and lost:
                        await lost()
                    try:
                        reply = await self._once(request)
                    except Transient as error:
                        failed = error
                        self._check_reached(request, error, tries)
                        raise
        except Transient as error:
            error.tries = tries
            raise
        return reply.model_copy(update={"tries": tries})

    async def close(self) -> None:
        await self._client.close()

    async def _once(self, request: ModelRequest) -> Reply:
        tokens = request.prompt_bytes / BYTES_PER_TOKEN + request.typical_output_tokens
        usd = self._price.rough(request) if self._price else 0.0
        held: list[Held] = []
        started = await self.concurrency.acquire()
        answered = too_many = False
        try:
            # In this order: what counts over time counts from the moment of sending.
            held = await self._rates.reserve(tokens, usd)
            if self._stopped:
                raise self._why()
            reply = await self._client.ask(request)
            answered = self._reached = True
            tokens, usd = self._used(reply, tokens, usd)
            return reply
        except StopsTheStage as error:
            self.stop(error)
            raise
        except Transient as error:
            too_many = error.kind == "rate_limit"
            self._reached |= error.kind != "connection" or error.maybe_billed
            if (error.hint_seconds or 0) > self._retries.longest_hint_seconds:
                self.stop(
                    QuotaExhausted(
                        f"{request.model} asks to wait {error.hint_seconds:,.0f} seconds "
                        f"({error}). What was answered is kept; run again later."
                    )
                )
                raise self._why() from None
            raise
        finally:
            self.concurrency.release(started, answered=answered, too_many=too_many)
            self._rates.settle(held, tokens, usd)

    def _check_reached(self, request: ModelRequest, error: Transient, tries: int) -> None:
        if self._reached or tries < min(UNREACHED_TRIES, self._retries.tries):
            return
        self.stop(
            Misconfigured(
                f"{request.model} cannot be reached ({error}). Start its server, or check "
                "`base_url`, or the variable that `base_url_env` names, in configs/judges.yaml."
            )
        )
        raise self._why()

    async def _sleep(self, seconds: float) -> None:
        """Until it is time to try again, or nothing is to be sent any more."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    def _why(self) -> StopsTheStage:
        """Why nothing more is sent, as an error of its own for each who asks."""
        assert self._stopped is not None
        return type(self._stopped)(*self._stopped.args)

    def _used(self, reply: Reply, tokens: float, usd: float) -> tuple[float, float]:
        """What an answer really took; the estimates where it does not say."""
        said = reply.usage
        if said.prompt is not None:
            tokens = said.prompt + (said.output or 0) + (said.thinking or 0)
        real = self._price.of(said) if self._price else None
        return tokens, usd if real is None else real

    def _stop(self, state: RetryCallState) -> bool:
        """Whether the last try was the last."""
        error = state.outcome.exception() if state.outcome else None
        too_many = isinstance(error, Transient) and error.kind == "rate_limit"
        tries = self._retries.rate_limit_tries if too_many else self._retries.tries
        return state.attempt_number >= tries

    def _wait(self, state: RetryCallState) -> float:
        """The longer of the server's hint and exponential backoff, with jitter."""
        backoff = self._retries.first_wait_seconds * 2.0 ** (state.attempt_number - 1)
        jitter = random.uniform(0.5, 1.0)
        wait = jitter * min(backoff, self._retries.longest_wait_seconds)
        error = state.outcome.exception() if state.outcome else None
        hint = error.hint_seconds if isinstance(error, Transient) else None
        return max(hint * (1 + jitter / 10), wait) if hint else wait
