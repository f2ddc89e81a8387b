"""The retry policy for web requests: what is retried, and after how long."""

import random

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from tasks.configuration.web import RequestPolicy
from tasks.web.errors import FetchFailed

ASKS_TO_WAIT = frozenset({429, 503})


def is_retryable(status: int) -> bool:
    """Return whether another try may bring another HTTP status."""
    return status in (408, 425, 429) or status >= 500


def format_seconds(hint: float) -> str:
    """Format a server's hint, which may be a number of any length."""
    return f"{min(hint, 1e9):,.0f} s"


def retry_failures(manners: RequestPolicy, tries: int) -> AsyncRetrying:
    """Return the tries for a block that may raise FetchFailed; the last error is reraised."""

    def wait(state: RetryCallState) -> float:
        backoff = manners.first_wait_seconds * 2.0 ** (state.attempt_number - 1)
        wait = random.uniform(0.5, 1.0) * min(backoff, manners.longest_wait_seconds)
        error = state.outcome.exception() if state.outcome else None
        return max(wait, (error.hint_seconds if isinstance(error, FetchFailed) else None) or 0.0)

    return AsyncRetrying(
        retry=retry_if_exception(lambda error: isinstance(error, FetchFailed) and error.retryable),
        stop=stop_after_attempt(tries),
        wait=wait,
        reraise=True,
    )
