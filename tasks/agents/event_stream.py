"""Answers that come as a stream of events, over the same connections and with the same errors."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx
from httpx_sse import EventSource, ServerSentEvent, SSEError

from tasks.agents.http import JsonApi
from tasks.models.errors import Transient

LINGER_SECONDS = 5.0
"""How long a stream whose answer is whole is still listened to, should it not be closed."""


class EventStreamApi(JsonApi):
    """One key and one address, some of whose answers are streams."""

    async def buy_stream(
        self,
        path: str,
        body: Any,
        headers: Mapping[str, str],
        take: Callable[[ServerSentEvent], bool],
        *,
        seconds: float,
    ) -> None:
        """POST once what may cost money, and take the events of the answer as they come.

        take: is given each event; says whether the answer is whole with it. seconds: for all of
        the answer.

        Raises:
            Transient: with `maybe_billed` where it may have been worked on, as it has been when
                a stream ends before its answer is whole.
            Rejected, StopsTheStage: it was refused, nothing was bought.
        """
        whole = False
        try:
            async with (
                asyncio.timeout(seconds) as limit,
                self._posted(path, body, headers) as answer,
                aclosing(EventSource(answer).aiter_sse()) as events,
            ):
                async for event in events:
                    if take(event) and not whole:
                        whole = True
                        limit.reschedule(asyncio.get_running_loop().time() + LINGER_SECONDS)
        except TimeoutError:
            if not whole:
                raise Transient(
                    f"no whole answer after {seconds:,.0f} seconds", "timeout", maybe_billed=True
                ) from None
        except SSEError as error:
            raise _broken(str(error)) from None
        except Transient:
            if not whole:
                raise
        if not whole:
            raise _broken("the stream ended before its answer")

    @asynccontextmanager
    async def _posted(
        self, path: str, body: Any, headers: Mapping[str, str]
    ) -> AsyncIterator[httpx.Response]:
        """The answer to a POST, once its head is here and says that all is well."""
        async with self._transport.answer(
            "POST", self._base_url + path, self._headers | dict(headers), self._timeout_seconds,
            json=body,
        ) as response:  # fmt: skip
            if not response.is_success:
                await response.aread()
                raise self._meaning(response, buying=True)
            yield response


def _broken(why: str) -> Transient:
    return Transient(f"the answer was cut: {why}", "garbled", maybe_billed=True)
