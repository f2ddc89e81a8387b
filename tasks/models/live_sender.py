"""Sending requests one by one, within the limits and with retries.

A judge's request is retried here after a network error; the clients of agents, pages and Wikipedia
retry their own. A request that fails for good does not hold up the others, and one that waits for a
retry takes no slot of the concurrency limit.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress

from tasks.configuration.models import Limits, Retries
from tasks.models.client import ModelClient
from tasks.models.errors import QuotaExhausted, StopStage, TransientError, Unreachable
from tasks.models.exchange import ModelRequest, Reply
from tasks.models.limits import AdaptiveConcurrency, RateLimits
from tasks.models.prices import BYTES_PER_TOKEN, ModelPrice

OnLostAnswer = Callable[[], Awaitable[None]]
UNREACHED_TRIES = 4
"""Tries of a request without a connection until an endpoint that was never reached counts as down
(a few seconds). Once it has been reached, all tries are made."""


class LiveSender:
    """Sends the requests of one model live."""

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
        self._rates = RateLimits(limits)
        self.concurrency = AdaptiveConcurrency(limits.concurrency)
        self._stopped: StopStage | None = None
        self._stopping = asyncio.Event()
        self._reached = False

    async def wait_for_capacity(self) -> None:
        """Wait until more work should be prepared."""
        await self.concurrency.wait_for_capacity()

    def stop(self, error: StopStage) -> None:
        """Send nothing more: waiting requests fail with this error."""
        self._stopped = error
        self._stopping.set()

    async def send(self, request: ModelRequest, on_lost: OnLostAnswer | None = None) -> Reply:
        """Return the model's answer, retrying as configured.

        on_lost: awaited after a try whose answer was lost although it may be billed, before the
            next try.

        Raises:
            TransientError: all tries failed; `tries` is their number.
            RequestRejected, StopStage: at the first try.
        """
        tries, lost = 1, False
        while True:
            if lost and on_lost:
                await on_lost()
            try:
                reply = await self._send_once(request)
                return reply.model_copy(update={"tries": tries})
            except TransientError as error:
                error.tries, lost = tries, error.maybe_billed
                if tries > 1:
                    self._check_reached(request, error, tries)
                if tries >= self._most_tries(error):
                    raise
                wait = self._wait_seconds(error, tries)
            await self._sleep(wait)
            tries += 1

    async def close(self) -> None:
        await self._client.close()

    async def _send_once(self, request: ModelRequest) -> Reply:
        tokens = request.prompt_bytes / BYTES_PER_TOKEN + request.typical_output_tokens
        usd = self._price.estimate_cost(request) if self._price else 0.0
        held: list[list[float]] = []
        started = await self.concurrency.acquire()
        answered = too_many = False
        try:
            # After `acquire`: limits over time count from the moment of sending.
            held = await self._rates.reserve(tokens, usd)
            if self._stopped:
                raise self._stop_error()
            reply = await self._client.ask(request)
            answered = self._reached = True
            tokens, usd = self._actual_usage(reply, tokens, usd)
            return reply
        except StopStage as error:
            self.stop(error)
            raise
        except TransientError as error:
            too_many = error.kind == "rate_limit"
            self._reached |= error.kind != "connection" or error.maybe_billed
            if (error.hint_seconds or 0) > self._retries.longest_hint_seconds:
                self.stop(
                    QuotaExhausted(
                        f"{request.model} asks to wait {error.hint_seconds:,.0f} seconds "
                        f"({error}). Answers so far are kept; run again later."
                    )
                )
                raise self._stop_error() from None
            raise
        finally:
            self.concurrency.release(started, answered=answered, too_many=too_many)
            self._rates.settle(held, tokens, usd)

    def _check_reached(self, request: ModelRequest, error: TransientError, tries: int) -> None:
        if self._reached or tries < min(UNREACHED_TRIES, self._retries.tries):
            return
        self.stop(
            Unreachable(
                f"{request.model} cannot be reached ({error}). Start its server, or check "
                "`base_url`, or the variable that `base_url_env` names, in configs/judges.yaml."
            )
        )
        raise self._stop_error()

    async def _sleep(self, seconds: float) -> None:
        """Sleep until the next try is due or the sender is stopped."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    def _stop_error(self) -> StopStage:
        """Return why the sender has stopped, as a new error for each caller."""
        assert self._stopped is not None
        return type(self._stopped)(*self._stopped.args)

    def _actual_usage(self, reply: Reply, tokens: float, usd: float) -> tuple[float, float]:
        """Return the tokens and USD of an answer; the estimates if it does not report them."""
        usage = reply.usage
        if usage.prompt is not None:
            tokens = usage.prompt + (usage.output or 0) + (usage.thinking or 0)
        real = self._price.of(usage) if self._price else None
        return tokens, usd if real is None else real

    def _most_tries(self, error: TransientError) -> int:
        too_many = error.kind == "rate_limit"
        return self._retries.rate_limit_tries if too_many else self._retries.tries

    def _wait_seconds(self, error: TransientError, tries: int) -> float:
        """Return the longer of the server's hint and exponential backoff, with jitter."""
        backoff = self._retries.first_wait_seconds * 2.0 ** (tries - 1)
        jitter = random.uniform(0.5, 1.0)
        wait = jitter * min(backoff, self._retries.longest_wait_seconds)
        return max(error.hint_seconds * (1 + jitter / 10), wait) if error.hint_seconds else wait
