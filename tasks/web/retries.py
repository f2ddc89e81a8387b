"""The retry policy for web requests: what is retried, and after how long."""

import random
from collections.abc import Awaitable, Callable
from itertools import count
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from tasks.configuration.web import RequestPolicy
from tasks.web.errors import FetchFailed

ASKS_TO_WAIT = frozenset({429, 503})
LONGEST_WISH_SECONDS = 48 * 3600.0
"""A server that asks for a longer wait is asked again after this one."""
ResultT = TypeVar("ResultT")


def is_retryable(status: int) -> bool:
    """Return whether another try may bring another HTTP status."""
    return status in (408, 425, 429) or status >= 500


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
