"""HTTP for many concurrent calls: httpx's interface over aiohttp's connections.

A call over httpx's own connections costs 1.9 ms of CPU time, and a pool of 100 connections
handles 62 calls a second, because it scans all of them at each request. Over aiohttp's, whose
parser is compiled, a call costs 0.6 to 0.9 ms (200 ms endpoint, 100 calls under way, two cores,
Python 3.11).

Errors of these libraries are raised as what they mean for the call, so that callers need not
know them: may it have been billed, is a retry useful? aiohttp's errors take precedence, because
httpx's translations are less exact (a connection that is cut while waiting for the answer
becomes a `ConnectTimeout`).
"""

import json
import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any

import aiohttp
import httpx
from aiohttp.connector import Connection
from httpx_aiohttp import AiohttpTransport

from tasks.models.errors import Misconfigured, ModelError, ResponseTooLarge, TransientError

INVALID_REQUEST_ERRORS = (
    httpx.InvalidURL,
    httpx.UnsupportedProtocol,
    aiohttp.InvalidURL,
    aiohttp.NonHttpUrlClientError,
    ValueError,
)
"""The address or the key makes no valid request. ValueErrors come from yarl, multidict or a codec:
a host name that is too long, a key that does not fit a header."""
UNSENT_ERRORS = (
    aiohttp.ClientConnectorError,
    aiohttp.ClientHttpProxyError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ServerFingerprintMismatch,
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
)
"""Errors from before the request was sent: nothing can have been billed."""
CONNECTION_ERRORS = (
    OSError,
    aiohttp.ClientConnectionError,
    aiohttp.ClientPayloadError,
    httpx.TransportError,
)
"""Errors of the connection; all others concern the data that came over it."""
MAX_RESPONSE_BYTES = 64 * 1024 * 1024
"""Largest response body, decoded."""
MAX_HEADER_BYTES = 32_768
"""Longest header line: policies of 10 kB and more are common."""


class ModelTransport(AiohttpTransport):
    """A transport with a fixed number of connections; no cookies, proxies or redirects.

    Proxies of the environment are ignored: prompts go to the configured endpoint only.
    """

    def __init__(self, connections: int, max_bytes: int = MAX_RESPONSE_BYTES) -> None:
        context = httpx.create_ssl_context()  # respects SSL_CERT_FILE, for private CAs
        self._most_bytes = max_bytes

        def session() -> aiohttp.ClientSession:
            return aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=connections, ssl=context),
                cookie_jar=aiohttp.DummyCookieJar(),
                response_class=_ReasonlessResponse,
                trust_env=False,
                max_line_size=MAX_HEADER_BYTES,
                max_field_size=MAX_HEADER_BYTES,
            )

        super().__init__(verify=context, client=session)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; return the response before its body has been read.

        Raises:
            TransientError: no answer came; here, or while the body is read.
            Misconfigured: the address or the key makes no valid request.
        """
        try:
            response = await super().handle_async_request(request)
        except Exception as error:
            raise classify_send_error(error, billable=_is_billable(request)) from None
        return _TransportResponse(response, request, self._most_bytes)

    @asynccontextmanager
    async def stream(
        self, method: str, url: str, headers: Mapping[str, str], seconds: float, **body: Any
    ) -> AsyncIterator[httpx.Response]:
        """Send a request and stream the response; it is closed at the end of the block.

        This bypasses httpx's client, whose authentication flows, redirects and cookies would
        take a third of a call's CPU time.

        Args:
            seconds: see `build_timeout`.
            body: arguments of `httpx.Request`: `content`, `json`, `data`, `files`, `params`.
        """
        extensions = {"timeout": build_timeout(seconds).as_dict()}
        try:
            request = httpx.Request(
                method, _parse_url(url), headers=headers, extensions=extensions, **body
            )
        except (httpx.InvalidURL, ValueError) as error:
            raise classify_send_error(error, billable=False) from None
        response = await self.handle_async_request(request)
        try:
            yield response
        finally:
            await response.aclose()

    async def request(
        self, method: str, url: str, headers: Mapping[str, str], seconds: float, **body: Any
    ) -> httpx.Response:
        """Send a request and return the response with its whole body."""
        async with self.stream(method, url, headers, seconds, **body) as response:
            await response.aread()
        return response


@lru_cache(maxsize=64)
def _parse_url(url: str) -> httpx.URL:
    """Parse an address; nearly all calls go to the same one."""
    return httpx.URL(url)


class _ReasonlessResponse(aiohttp.ClientResponse):
    """A response without its reason phrase, which httpx accepts only as UTF-8."""

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        await super().start(connection)
        self.reason = None
        return self


class _TransportResponse(httpx.Response):
    """A response that raises `TransientError` when its body breaks off.

    Its text is UTF-8, as JSON and events are: a header may name an unknown charset. `Set-Cookie`
    is dropped: a cookie sent back can break all further requests.
    """

    def __init__(self, head: httpx.Response, request: httpx.Request, max_bytes: int) -> None:
        headers = [(n, v) for n, v in head.headers.raw if n.lower() != b"set-cookie"]
        super().__init__(
            head.status_code, headers=headers, stream=head.stream, request=request,
            extensions=head.extensions,
        )  # fmt: skip
        self.encoding = "utf-8"
        self._most_bytes = max_bytes

    async def aiter_bytes(self, chunk_size: int | None = None) -> AsyncIterator[bytes]:
        n_bytes = 0
        billable = _is_billable(self.request)
        try:
            async for part in super().aiter_bytes(chunk_size):
                n_bytes += len(part)
                if n_bytes > self._most_bytes:
                    raise ResponseTooLarge(
                        f"the answer holds more than {self._most_bytes:,} bytes; it was left "
                        "unread", "garbled", maybe_billed=billable,
                    )  # fmt: skip
                yield part
        except TransientError:
            raise
        except Exception as error:
            raise classify_read_error(error, billable=billable) from None

    def json(self, **options: Any) -> Any:
        """Return the body as JSON; bad UTF-8 is tolerated in error responses only."""
        return super().json(**options) if self.is_success else json.loads(self.text, **options)


def build_timeout(seconds: float) -> httpx.Timeout:
    """Return a timeout for each wait of a call; connecting gets 30 seconds at most."""
    return httpx.Timeout(seconds, connect=min(30.0, seconds), pool=None)


def _is_billable(request: httpx.Request) -> bool:
    """Whether a request may cost money: GET requests do not."""
    return request.method == "POST"


def classify_send_error(error: Exception, *, billable: bool) -> ModelError:
    """Return the error for a request that was not sent or got no response."""
    cause = _unwrap_cause(error)
    if isinstance(cause, UNSENT_ERRORS):  # checked first: a bad certificate is a ValueError, too
        return _make_transient(cause, sent=False, billable=billable)
    if isinstance(cause, INVALID_REQUEST_ERRORS):
        return Misconfigured(
            f"no request can be made ({_describe(cause)}). Check the address, and the key."
        )
    return _make_transient(cause, sent=True, billable=billable)


def classify_read_error(error: Exception, *, billable: bool) -> TransientError:
    """Return the error for a response that broke off."""
    return _make_transient(_unwrap_cause(error), sent=True, billable=billable)


def strip_received_bytes(message: str) -> str:
    """Return a parser's message without the bytes it failed on, which may hold anything."""
    return re.split(r":? (?:bytearray\()?b['\"]|:?\n", message)[0]


def _unwrap_cause(error: Exception) -> Exception:
    return error.__cause__ if isinstance(error.__cause__, aiohttp.ClientError) else error


def _make_transient(cause: Exception, *, sent: bool, billable: bool) -> TransientError:
    if sent and isinstance(cause, TimeoutError | httpx.TimeoutException):
        return TransientError(_describe(cause), "timeout", maybe_billed=billable)
    cut = isinstance(cause, CONNECTION_ERRORS) and not isinstance(cause, httpx.ProtocolError)
    return TransientError(
        _describe(cause), "connection" if cut else "garbled", maybe_billed=sent and billable
    )


def _describe(cause: Exception) -> str:
    match cause:
        case aiohttp.ClientSSLError():
            pass
        case aiohttp.ClientConnectorError():
            code = cause.os_error.errno
            reason = os.strerror(code) if code and code > 0 else cause.os_error.strerror
            return f"{cause.host}:{cause.port}: {reason or cause.os_error}"
    said = getattr(cause, "message", None) or str(cause)
    words = strip_received_bytes(said) if isinstance(said, str) else ""  # else: received data
    return f"{type(cause).__name__}: {words}".strip(": ")
