"""Answers that arrive as a stream of server-sent events, with the errors of `ApiClient`."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx
from httpx_sse import EventSource, ServerSentEvent, SSEError

from tasks.agents.synchronous_api import SynchronousClient
from tasks.models.errors import TransientError

LINGER_SECONDS = 5.0
"""How long to wait for a stream to close once its answer is complete."""


class EventStreamClient(SynchronousClient):
    """What the clients share whose report comes as a stream."""

    async def buy_stream(
        self,
        path: str,
        body: Any,
        headers: Mapping[str, str],
        on_event: Callable[[ServerSentEvent], bool],
    ) -> None:
        """Send one POST that may cost money, and pass on the events of the answer as they arrive.

        on_event: receives each event; returns whether it completes the answer.

        Raises:
            TransientError: with `maybe_billed` where the request may have been processed, as always
                when a stream ends before its answer is complete.
            RequestRejected, StopStage: the request was refused; nothing was bought.
        """
        whole = False
        seconds = self.ask.limits.timeout_seconds
        try:
            async with (
                asyncio.timeout(seconds) as limit,
                self._post(path, body, headers) as answer,
                aclosing(EventSource(answer).aiter_sse()) as events,
            ):
                async for event in events:
                    if on_event(event) and not whole:
                        whole = True
                        limit.reschedule(asyncio.get_running_loop().time() + LINGER_SECONDS)
        except TimeoutError:
            if not whole:
                raise TransientError(
                    f"no complete answer after {seconds:,.0f} seconds",
                    "timeout",
                    maybe_billed=True,
                ) from None
        except SSEError as error:
            raise _truncated_error(str(error)) from None
        except TransientError:
            if not whole:
                raise
        if not whole:
            raise _truncated_error("the stream ended before its answer")

    @asynccontextmanager
    async def _post(
        self, path: str, body: Any, headers: Mapping[str, str]
    ) -> AsyncIterator[httpx.Response]:
        """Send a POST and yield the response once its headers have arrived with a good status."""
        async with self._transport.stream(
            "POST",
            self.base_url + path,
            self._headers(headers),
            self.ask.limits.timeout_seconds,
            json=body,
        ) as response:
            if not response.is_success:
                await response.aread()
                raise self._error_for(response, buying=True)
            yield response


def _truncated_error(why: str) -> TransientError:
    return TransientError(f"the answer was cut: {why}", "garbled", maybe_billed=True)
