"""Trying again what may heal: tenacity does it; here is what heals, and how long it takes."""

import random

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from tasks.configuration.web import Manners
from tasks.web.errors import Failed

ASKS_TO_WAIT = frozenset({429, 503})


def heals(status: int) -> bool:
    """Whether an HTTP status may be another one next time."""
    return status in (408, 425, 429) or status >= 500


def seconds(hint: float) -> str:
    """A hint for people; servers write numbers of any length."""
    return f"{min(hint, 1e9):,.0f} s"


def retrying(manners: Manners, tries: int) -> AsyncRetrying:
    """Tries of what raises Failed; the last error is raised as it is."""

    def wait(state: RetryCallState) -> float:
        backoff = manners.first_wait_seconds * 2.0 ** (state.attempt_number - 1)
        wait = random.uniform(0.5, 1.0) * min(backoff, manners.longest_wait_seconds)
        error = state.outcome.exception() if state.outcome else None
        return max(wait, (error.hint_seconds if isinstance(error, Failed) else None) or 0.0)

    return AsyncRetrying(
        retry=retry_if_exception(lambda error: isinstance(error, Failed) and error.heals),
        stop=stop_after_attempt(tries),
        wait=wait,
        reraise=True,
    )
