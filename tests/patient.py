"""Servers as tests ask them: a Prefect server that does several tests' runs on SQLite may take a
minute for an answer, or say 503 (`database is locked`), which Prefect's own clients ask again."""

from collections.abc import Callable
from functools import partial
from typing import Any

import httpx
from tenacity import RetryCallState, retry, retry_if_result, stop_after_delay, wait_fixed

SECONDS = 180
Client = partial(httpx.Client, timeout=SECONDS)
AsyncClient = partial(httpx.AsyncClient, timeout=SECONDS)


def _is_busy(answer: httpx.Response) -> bool:
    return answer.status_code == httpx.codes.SERVICE_UNAVAILABLE


def _last(state: RetryCallState) -> Any:
    return state.outcome and state.outcome.result()


def _again(ask: Callable[..., httpx.Response]) -> Callable[..., httpx.Response]:
    """`ask` that waits for its answer, and asks again who is busy."""
    return retry(
        retry=retry_if_result(_is_busy), stop=stop_after_delay(SECONDS), wait=wait_fixed(0.5),
        retry_error_callback=_last,
    )(partial(ask, timeout=SECONDS))  # fmt: skip


get, post = _again(httpx.get), _again(httpx.post)
