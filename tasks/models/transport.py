"""HTTP for many calls at once: httpx's interface over aiohttp's connections.

A call through httpx's own connections costs 1.9 ms of processor time (and one pool of 100
connections manages 62 calls a second, because it looks through all of them at each request);
over aiohttp's, whose parser is compiled, 0.6 to 0.9 ms (200 ms endpoint, 100 calls under way,
two cores, Python 3.11). That is the difference between a judge that waits for its model and
one that waits for itself.

Whatever goes wrong on the way is raised as what it means for the call (`failures`), so nobody
above names an error of these libraries.
"""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import httpx
from aiohttp.connector import Connection
from httpx_aiohttp import AiohttpTransport

from tasks.models.errors import TooLong, Transient
from tasks.models.failures import broken_off, no_answer

MOST_BYTES = 64 * 1024 * 1024
"""Of an answer, unpacked."""
MOST_HEADER_BYTES = 32_768
"""Of one line: policies of 10 kB and more are common."""


class ModelTransport(AiohttpTransport):
    """As many connections as calls may be under way; no cookies, no proxies, no redirects.

    Proxies named by the environment are left out: what a judge is sent goes to the configured
    endpoint only.
    """

    def __init__(self, connections: int, most_bytes: int = MOST_BYTES) -> None:
        context = httpx.create_ssl_context()  # SSL_CERT_FILE names an endpoint's own authority
        self._most_bytes = most_bytes

        def session() -> aiohttp.ClientSession:
            return aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=connections, ssl=context),
                cookie_jar=aiohttp.DummyCookieJar(),
                response_class=_Heard,
                trust_env=False,
                max_line_size=MOST_HEADER_BYTES,
                max_field_size=MOST_HEADER_BYTES,
            )

        super().__init__(verify=context, client=session)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The answer to a request, its head here and its body about to come.

        Raises:
            Transient: no answer came; here, or while its body is read.
            Misconfigured: no request can be sent to such an address, or with such a key.
        """
        try:
            response = await super().handle_async_request(request)
        except Exception as error:
            raise no_answer(error, buying=_buys(request)) from None
        return _Answer(response, request, self._most_bytes)

    @asynccontextmanager
    async def answer(
        self, method: str, url: str, headers: Mapping[str, str], seconds: float, **body: Any
    ) -> AsyncIterator[httpx.Response]:
        """As `handle_async_request`; the answer is given back at the end of the block.

        Straight through the transport: these calls need no authentication flows, redirects or
        cookies, which cost a third of what a call takes.

        Args:
            seconds: for each wait, see `timeouts`.
            body: as httpx's requests take it: `content`, `json`, `data`, `files`, `params`.
        """
        extensions = {"timeout": timeouts(seconds).as_dict()}
        try:
            request = httpx.Request(method, url, headers=headers, extensions=extensions, **body)
        except (httpx.InvalidURL, ValueError) as error:
            raise no_answer(error, buying=False) from None
        response = await self.handle_async_request(request)
        try:
            yield response
        finally:
            await response.aclose()

    async def whole(
        self, method: str, url: str, headers: Mapping[str, str], seconds: float, **body: Any
    ) -> httpx.Response:
        """As `answer`, once all of it is here."""
        async with self.answer(method, url, headers, seconds, **body) as response:
            await response.aread()
        return response


class _Heard(aiohttp.ClientResponse):
    """Without its reason phrase, which nobody reads, and which httpx takes only as UTF-8."""

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        await super().start(connection)
        self.reason = None
        return self


class _Answer(httpx.Response):
    """An answer whose body breaks off as a lost one, however it does.

    Its text is UTF-8, as JSON and events are: the charset that a header names may be none. A
    client that would send its cookies back never sees them: one can spoil all further requests.
    """

    def __init__(self, head: httpx.Response, request: httpx.Request, most_bytes: int) -> None:
        headers = [(n, v) for n, v in head.headers.raw if n.lower() != b"set-cookie"]
        super().__init__(
            head.status_code, headers=headers, stream=head.stream, request=request,
            extensions=head.extensions,
        )  # fmt: skip
        self.encoding = "utf-8"
        self._most_bytes = most_bytes

    async def aiter_bytes(self, chunk_size: int | None = None) -> AsyncIterator[bytes]:
        n_bytes = 0
        buying = _buys(self.request)
        try:
            async for part in super().aiter_bytes(chunk_size):
                n_bytes += len(part)
                if n_bytes > self._most_bytes:
                    raise TooLong(
                        f"the answer holds more than {self._most_bytes:,} bytes; it was left "
                        "unread", "garbled", maybe_billed=buying,
                    )  # fmt: skip
                yield part
        except Transient:
            raise
        except Exception as error:
            raise broken_off(error, buying=buying) from None

    def json(self, **options: Any) -> Any:
        """A refusal counts in whatever encoding its words are; an answer must be right."""
        return super().json(**options) if self.is_success else json.loads(self.text, **options)


def http_client(
    connections: int, timeout_seconds: float, most_bytes: int = MOST_BYTES
) -> httpx.AsyncClient:
    """A client for `connections` calls at once, none of which waits for ever."""
    return httpx.AsyncClient(
        transport=ModelTransport(connections, most_bytes),
        timeout=timeouts(timeout_seconds),
        follow_redirects=False,
    )


def timeouts(seconds: float) -> httpx.Timeout:
    """For each wait inside one call; connecting gets half a minute at most."""
    return httpx.Timeout(seconds, connect=min(30.0, seconds), pool=None)


def _buys(request: httpx.Request) -> bool:
    """Whether a request may cost money: looking at what was bought does not."""
    return request.method == "POST"
