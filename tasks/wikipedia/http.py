"""Request Wikimedia's services politely: paced, few requests at once, with retries.

tenacity retries; this module decides which answers are retried, and when.
"""

import asyncio
import json
import random
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any, Protocol

import httpx
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt

from tasks.configuration.wikipedia import WikiRequests
from tasks.models.client import parse_retry_after
from tasks.models.errors import Misconfigured, ResponseTooLarge, TransientError
from tasks.models.transport import ModelTransport
from tasks.wikipedia.errors import WikiRefused, WikiUnreachable

RETRYABLE = frozenset({408, 425, 429, 500, 502, 503, 504})
MAX_EXCERPT = 200


class Clock(Protocol):
    """The clock of a client: the real one, or in tests one that never waits."""

    def now(self) -> float:
        """Return the seconds since some fixed moment."""

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""


class RealClock:
    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class TransientAnswer(Exception):
    """An answer that may change with another try."""

    def __init__(self, message: str, hint_seconds: float | None = None) -> None:
        super().__init__(message)
        self.hint_seconds = hint_seconds


class PoliteClient:
    """A client for one service that keeps the service's rules.

    Args:
        operator: contact for the service's operators, part of every request's User-Agent.
        name: the service's name in messages.
        on_message: called with a message about each wait before a retry.
    """

    def __init__(
        self,
        settings: WikiRequests,
        operator: str,
        *,
        clock: Clock | None = None,
        name: str = "wiki",
        on_message: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._settings = settings
        self._clock = clock or RealClock()
        self._name = name
        self._on_message = on_message
        self._slots = asyncio.Semaphore(settings.most_at_once)
        self._pace_lock = asyncio.Lock()
        self._next_start = 0.0
        self.n_requests = 0
        """Requests sent so far, including failed ones."""
        agent = (
            f"EvergreenBench/{version('evergreen-bench')} ({operator}) aiohttp/{version('aiohttp')}"
        )
        self._headers = {"User-Agent": agent, "Accept": "application/json"}
        self._transport = ModelTransport(settings.most_at_once, settings.largest_answer_bytes)

    async def close(self) -> None:
        await self._transport.aclose()

    async def fetch_json(
        self,
        url: str,
        data: Mapping[str, str] | None = None,
        check: Callable[[Any], None] = lambda answer: None,
        none_for: frozenset[int] = frozenset(),
    ) -> Any:
        """Fetch a URL's JSON; return None for the statuses in `none_for`.

        data: form fields to POST; None sends a GET request.
        check: raises TransientAnswer or WikiRefused for an error reported in the answer.

        Raises:
            WikiRefused: trying again is useless.
            WikiUnreachable: no usable answer came in all tries.
        """
        try:
            async for attempt in AsyncRetrying(
                retry=retry_if_exception_type(TransientAnswer),
                stop=stop_after_attempt(self._settings.tries),
                wait=self._wait,
                sleep=self._clock.sleep,
                reraise=True,
            ):
                with attempt:
                    return await self._ask_once(url, data, check, none_for)
        except TransientAnswer as error:
            raise WikiUnreachable(
                f"{url}: no usable answer in {self._settings.tries} tries, the last: {error}. "
                "What was collected is kept; run the same command again later."
            ) from None
        raise AssertionError("tenacity returns or raises")

    async def _ask_once(
        self,
        url: str,
        data: Mapping[str, str] | None,
        check: Callable[[Any], None],
        none_for: frozenset[int],
    ) -> Any:
        async with self._slots:
            await self._pace()
            self.n_requests += 1
            response = await self._send(url, data)
        status, body = response.status_code, response.content
        hint = parse_retry_after(response.headers)
        if status in none_for:
            return None
        if status in RETRYABLE:
            raise TransientAnswer(f"HTTP {status}", hint)
        if status != 200:
            raise WikiRefused(_describe_refusal(url, response), str(status))
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            raise TransientAnswer(f"HTTP 200 with a body that is no JSON: {body[:80]!r}") from None
        try:
            check(answer)
        except TransientAnswer as error:
            raise TransientAnswer(str(error), error.hint_seconds or hint) from None
        return answer

    async def _send(self, url: str, data: Mapping[str, str] | None) -> httpx.Response:
        method = "GET" if data is None else "POST"
        seconds = self._settings.timeout_seconds
        try:
            return await self._transport.request(method, url, self._headers, seconds, data=data)
        except Misconfigured as error:
            raise WikiRefused(f"{url}: not an address that can be asked: {error}") from None
        except ResponseTooLarge as error:
            raise WikiRefused(
                f"{url}: {error}. Raise `requests.largest_answer_bytes` in configs/wikipedia.yaml "
                "if that is right."
            ) from None
        except TransientError as error:  # refused, cut off, garbled, too slow
            raise TransientAnswer(str(error)) from None

    async def _pace(self) -> None:
        """Wait until this request may start; starts are evenly apart."""
        async with self._pace_lock:
            wait = self._next_start - self._clock.now()
            if wait > 0:
                await self._clock.sleep(wait)
            self._next_start = (
                max(self._next_start, self._clock.now()) + 1 / self._settings.per_second
            )

    def _wait(self, state: RetryCallState) -> float:
        """Return the longer of the server's hint and exponential backoff with jitter."""
        error = state.outcome.exception() if state.outcome else None
        backoff = self._settings.first_wait_seconds * 2.0 ** (state.attempt_number - 1)
        wait = random.uniform(0.5, 1.0) * min(backoff, self._settings.longest_wait_seconds)
        hint = error.hint_seconds if isinstance(error, TransientAnswer) else None
        if hint and hint > self._settings.longest_wait_seconds:
            raise WikiUnreachable(
                f"The wiki asks to wait {hint:,.0f} seconds ({error}). What was collected is "
                "kept; run the same command again then."
            )
        wait = max(wait, hint or 0.0)
        self._on_message(f"{self._name}: {error}: trying again in {wait:.0f} s")
        return wait


def _describe_refusal(url: str, response: httpx.Response) -> str:
    status = response.status_code
    if 300 <= status < 400:
        return (
            f"{url}: redirects to {response.headers.get('Location', 'nowhere')[:MAX_EXCERPT]}. "
            "Give the address it leads to, with --wiki-api or in configs/wikipedia.yaml."
        )
    excerpt = " ".join(response.text[: MAX_EXCERPT * 2].split())[:MAX_EXCERPT]
    return (
        f"{url}: HTTP {status}: {excerpt}. Check the address, and `operator` in "
        "configs/wikipedia.yaml."
    )
