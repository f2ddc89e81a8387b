"""Answers that come as a stream of events, over the same connections and with the same errors."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx
from httpx_sse import EventSource, ServerSentEvent, SSEError

from tasks.agents.http import CONFIGURED_IN, MAX_ANSWER_BYTES, JsonApi
from tasks.models.client import no_answer
from tasks.models.errors import Misconfigured, Transient

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
        n_characters = 0
        try:
            async with (
                asyncio.timeout(seconds) as limit,
                self._posted(path, body, headers) as answer,
                aclosing(EventSource(answer).aiter_sse()) as events,
            ):
                async for event in events:
                    n_characters += len(event.data)
                    if n_characters > MAX_ANSWER_BYTES:
                        raise _broken(f"more than {MAX_ANSWER_BYTES:,} characters came")
                    if take(event) and not whole:
                        whole = True
                        limit.reschedule(asyncio.get_running_loop().time() + LINGER_SECONDS)
        except TimeoutError:
            if not whole:
                raise Transient(
                    f"no whole answer after {seconds:,.0f} seconds", "timeout", maybe_billed=True
                ) from None
        except (SSEError, UnicodeDecodeError, httpx.DecodingError) as error:
            raise _broken(str(error)) from None
        except httpx.TransportError as error:
            if not whole:
                raise no_answer(error) from None
        if not whole:
            raise _broken("the stream ended before its answer")

    @asynccontextmanager
    async def _posted(
        self, path: str, body: Any, headers: Mapping[str, str]
    ) -> AsyncIterator[httpx.Response]:
        """The answer to a POST, once its head is here and says that all is well."""
        async with self._http.stream(
            "POST", self._base_url + path, json=body, headers=self._headers | dict(headers)
        ) as response:
            if response.status_code >= 400:
                await response.aread()
                raise self._meaning(response, buying=True)
            if response.status_code >= 300:
                raise Misconfigured(
                    f"{self._agent}: {self._base_url} sends its callers elsewhere (HTTP "
                    f"{response.status_code}). Check `base_url` in {CONFIGURED_IN}."
                )
            yield response


def _broken(why: str) -> Transient:
    return Transient(f"the answer was cut: {why}", "garbled", maybe_billed=True)
