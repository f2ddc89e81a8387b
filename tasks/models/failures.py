"""Classify errors of the HTTP libraries: may the call have been billed, is a retry useful?

Judges, agents and wikis share these rules; `transport` raises only the errors made here. aiohttp's
errors take precedence, because httpx's translations are less exact (a connection that is cut while
waiting for the answer becomes a `ConnectTimeout`).
"""

import os
import re

import aiohttp
import httpx

from tasks.models.errors import Misconfigured, ModelError, TransientError

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
    return TransientError(_describe(cause), "connection" if cut else "garbled",
                     maybe_billed=sent and billable)  # fmt: skip


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
