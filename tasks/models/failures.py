"""What an error of the HTTP libraries means for a call: may it have been billed, may it heal?

The one place that says so, for judges, agents and wikis; `transport` raises what is said here
and nothing else. aiohttp's own errors are looked at where there are any: httpx's names for them
say less (a connection that is cut while the answer is waited for is a `ConnectTimeout` there).
"""

import re

import aiohttp
import httpx

from tasks.models.errors import Misconfigured, ModelError, Transient

UNSENDABLE = (
    httpx.InvalidURL,
    httpx.UnsupportedProtocol,
    aiohttp.InvalidURL,
    aiohttp.NonHttpUrlClientError,
    ValueError,
)
"""No request can be made of this address and key. A ValueError is yarl's, multidict's or a
codec's: of a host's name that is too long, of a key that no header can hold."""
NOT_SENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ClientHttpProxyError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ServerFingerprintMismatch,
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
)
"""Errors from before the request left: nothing can have been billed."""
CUT = (OSError, aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, httpx.TransportError)
"""The connection is to blame; for the rest it is what came over it."""


def no_answer(error: Exception, *, buying: bool) -> ModelError:
    """What it means that a request could not be sent, or that no answer began."""
    cause = _cause(error)
    if isinstance(cause, NOT_SENT):  # before the other: a bad certificate is a ValueError, too
        return _lost(cause, sent=False, buying=buying)
    if isinstance(cause, UNSENDABLE):
        return Misconfigured(
            f"no request can be made ({_words(cause)}). Check the address, and the key."
        )
    return _lost(cause, sent=True, buying=buying)


def broken_off(error: Exception, *, buying: bool) -> Transient:
    """What it means that an answer had begun, and could not be read to its end."""
    return _lost(_cause(error), sent=True, buying=buying)


def without_what_was_read(message: str) -> str:
    """The message of a parser without the bytes it could not parse: they may hold anything."""
    return re.split(r":? (?:bytearray\()?b['\"]|:?\n", message)[0]


def _cause(error: Exception) -> Exception:
    return error.__cause__ if isinstance(error.__cause__, aiohttp.ClientError) else error


def _lost(cause: Exception, *, sent: bool, buying: bool) -> Transient:
    if sent and isinstance(cause, TimeoutError | httpx.TimeoutException):
        return Transient(_words(cause), "timeout", maybe_billed=buying)
    cut = isinstance(cause, CUT) and not isinstance(cause, httpx.ProtocolError)
    return Transient(_words(cause), "connection" if cut else "garbled",
                     maybe_billed=sent and buying)  # fmt: skip


def _words(cause: Exception) -> str:
    said = getattr(cause, "message", None) or str(cause)
    words = without_what_was_read(said) if isinstance(said, str) else ""  # else: what was read
    return f"{type(cause).__name__}: {words}".strip(": ")
