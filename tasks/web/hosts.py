"""Limit requests: how many at once, to one host and in all, how far apart, and how often retried.

A request that waits for its host takes no slot that another host could use.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from time import monotonic
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from tasks.configuration.web import RequestPolicy
from tasks.web.errors import FetchError, FetchFailed, PageDeferred

LAST_STATUS = 599
"""HTTP knows none above; a server that makes one up, such as 999, refuses."""
ASKS_TO_WAIT = frozenset({429, 503})
LONGEST_WISH_SECONDS = 48 * 3600.0
"""A server that asks for a longer wait is asked again after this one."""
ResultT = TypeVar("ResultT")
MAX_UNANSWERED = 3
"""Pages in a row without any answer after which a host is not asked again."""


def is_retryable(status: int) -> bool:
    """Return whether another try may bring another HTTP status."""
    return status in (408, 425, 429) or 500 <= status <= LAST_STATUS


def format_seconds(hint: float) -> str:
    """Format a server's hint, which may be a number of any length."""
    return f"{min(hint, 1e9):,.0f} s"


async def retry_failures(
    manners: RequestPolicy,
    request: Callable[[bool], Awaitable[ResultT]],
    tries: int | None = None,
) -> ResultT:
    """Try a request, again after a FetchFailed that says so; the last error is reraised.

    request: called with whether this is the last try. tries: overrides the policy's.
    """
    most = manners.tries if tries is None else tries
    numbers = count(1)

    def wait(state: RetryCallState) -> float:
        backoff = manners.first_wait_seconds * 2.0 ** (state.attempt_number - 1)
        wait = random.uniform(0.5, 1.0) * min(backoff, manners.longest_wait_seconds)
        error = state.outcome.exception() if state.outcome else None
        return max(wait, (error.hint_seconds if isinstance(error, FetchFailed) else None) or 0.0)

    async def try_once() -> ResultT:
        return await request(next(numbers) >= most)

    retrying = AsyncRetrying(
        retry=retry_if_exception(lambda error: isinstance(error, FetchFailed) and error.retryable),
        stop=stop_after_attempt(most),
        wait=wait,
        reraise=True,
    )
    return await retrying(try_once)


class _HostState:
    def __init__(self, at_once: int) -> None:
        self.slots = asyncio.Semaphore(at_once)
        self.queue = asyncio.Lock()
        self.not_before = 0.0
        """When the next request may start, on the monotonic clock."""
        self.unanswered: set[str] = set()
        self.closed: Callable[[], FetchError] | None = None
        """Makes the error to raise for further requests; None while the host is open."""
        self.busy: Callable[[], PageDeferred] | None = None
        """Likewise, of a host that asks to be left alone. Last looks are made all the same."""

    def get_closed(self, is_last_look: bool) -> Callable[[], FetchError] | None:
        return self.closed or (None if is_last_look else self.busy)


class HostThrottle:
    """Limits requests to each host and to all hosts together.

    Args:
        at_once: most concurrent requests in all.
        per_host: most concurrent requests to one host.
        seconds_between: least time between the starts of two requests to one host.
        key: hosts with the same key count as one.
    """

    def __init__(
        self,
        at_once: int,
        per_host: int,
        seconds_between: float,
        key: Callable[[str], str] = lambda host: host.removeprefix("www."),
    ) -> None:
        self._slots = asyncio.Semaphore(at_once)
        self._per_host = per_host
        self._between = seconds_between
        self._key = key
        self._hosts: dict[str, _HostState] = {}

    @asynccontextmanager
    async def slot(self, name: str, *, is_last_look: bool = False) -> AsyncIterator[None]:
        """Wait for a slot at a host, and hold it for the block.

        is_last_look: whether the page gets no other chance, however busy its host is.

        Raises:
            FetchFailed: the host is not asked any more, because it never answers.
            PageDeferred: the host is not asked again in this run, because it said so.
        """
        host = self._get_state(name)
        async with host.slots:
            await self._wait_for_slot(host, is_last_look)
            try:
                yield
            finally:
                self._slots.release()

    async def _wait_for_slot(self, host: _HostState, is_last_look: bool) -> None:
        """Wait until a request to the host may begin, then hold one of the slots of all hosts."""
        async with host.queue:
            while True:
                if closed := host.get_closed(is_last_look):
                    raise closed()
                wait = host.not_before - monotonic()
                if wait > 0:
                    await asyncio.sleep(wait)
                    continue
                await self._slots.acquire()
                now = monotonic()
                if host.not_before <= now and not host.get_closed(is_last_look):
                    host.not_before = now + self._between
                    return
                self._slots.release()  # a request under way has delayed the host meanwhile

    def delay(self, name: str, seconds: float) -> None:
        """Send no request to the host for so many seconds."""
        host = self._get_state(name)
        host.not_before = max(host.not_before, monotonic() + seconds)

    def close(self, name: str, why: str, seconds: float) -> None:
        """Send no more requests to the host in this run, but for last looks; it asks to be left
        alone for so many seconds."""
        until = monotonic() + min(seconds, LONGEST_WISH_SECONDS)
        self._get_state(name).busy = lambda: PageDeferred(
            why, "connecting", host=name, hint_seconds=max(0.0, until - monotonic())
        )

    def add_answer(self, name: str) -> None:
        """Note that the host has answered."""
        self._get_state(name).unanswered.clear()

    def add_unanswered(self, page: str, error: FetchFailed) -> None:
        """Note that the error's host answered none of the tries for a page."""
        host = self._get_state(error.host)
        host.unanswered.add(page)
        if len(host.unanswered) >= MAX_UNANSWERED and not host.closed:
            why = f"not asked for: {MAX_UNANSWERED} other pages of its host in a row had no answer"
            words = f"{why} ({error})"
            host.closed = lambda: FetchFailed(words, error.phase, host=error.host)

    def _get_state(self, name: str) -> _HostState:
        key = self._key(name)
        host = self._hosts.get(key)
        if host is None:
            host = self._hosts[key] = _HostState(self._per_host)
        return host
