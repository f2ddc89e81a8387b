"""The classes of errors that the HTTP libraries and google-genai know, and what each means."""

import socket
import ssl
from collections.abc import Callable

import aiohttp
import httpx
from aiohttp.client_reqrep import ConnectionKey
from google.genai import _interactions as interactions
from google.genai import errors as genai
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from tasks.models.errors import ModelError, RequestRejected, TransientError

UNSENT, LATE, CUT, GARBLED = (
    ("connection", False), ("timeout", True), ("connection", True), ("garbled", True)
)  # fmt: skip
NOWHERE = None
"""There is nothing to be sent to such an address: nobody is asked again."""
KEY = ConnectionKey("example.org", 443, True, True, None, None, None)
INFO = aiohttp.RequestInfo(URL("http://example.org"), "POST", CIMultiDictProxy(CIMultiDict()))
REQUEST = httpx.Request("POST", "http://example.org")
NO_NAME = socket.gaierror(socket.EAI_NONAME, "no such name")

Means = tuple[str, bool] | None
HTTPX: dict[type[Exception], Means] = {
    httpx.HTTPError: GARBLED,
    httpx.HTTPStatusError: GARBLED,
    httpx.RequestError: GARBLED,
    httpx.DecodingError: GARBLED,
    httpx.TooManyRedirects: GARBLED,
    httpx.TransportError: CUT,
    httpx.TimeoutException: LATE,
    httpx.ConnectTimeout: UNSENT,
    httpx.PoolTimeout: UNSENT,
    httpx.ReadTimeout: LATE,
    httpx.WriteTimeout: LATE,
    httpx.NetworkError: CUT,
    httpx.ConnectError: UNSENT,
    httpx.CloseError: CUT,
    httpx.ReadError: CUT,
    httpx.WriteError: CUT,
    httpx.ProxyError: UNSENT,
    httpx.UnsupportedProtocol: NOWHERE,
    httpx.ProtocolError: GARBLED,
    httpx.LocalProtocolError: GARBLED,
    httpx.RemoteProtocolError: GARBLED,
    httpx.InvalidURL: NOWHERE,
    httpx.CookieConflict: GARBLED,
    httpx.StreamError: GARBLED,
    httpx.StreamClosed: GARBLED,
    httpx.StreamConsumed: GARBLED,
    httpx.RequestNotRead: GARBLED,
    httpx.ResponseNotRead: GARBLED,
}
AIOHTTP: dict[type[Exception], tuple[Means, int]] = {
    # class: what it is for a call, how often a page is asked for that it strikes
    aiohttp.ClientError: (GARBLED, 2),
    aiohttp.ClientResponseError: (GARBLED, 2),
    aiohttp.ContentTypeError: (GARBLED, 2),
    aiohttp.WSServerHandshakeError: (GARBLED, 2),
    aiohttp.TooManyRedirects: (GARBLED, 2),
    aiohttp.ClientHttpProxyError: (("garbled", False), 2),
    aiohttp.ClientConnectionError: (CUT, 2),
    aiohttp.ClientConnectionResetError: (CUT, 2),
    aiohttp.ClientOSError: (CUT, 2),
    aiohttp.ClientConnectorError: (UNSENT, 2),
    aiohttp.ClientConnectorDNSError: (UNSENT, 1),
    aiohttp.ClientProxyConnectionError: (UNSENT, 2),
    aiohttp.client_exceptions.UnixClientConnectorError: (UNSENT, 2),
    aiohttp.ClientSSLError: (UNSENT, 2),
    aiohttp.ClientConnectorSSLError: (UNSENT, 1),
    aiohttp.ClientConnectorCertificateError: (UNSENT, 1),
    aiohttp.ServerConnectionError: (CUT, 2),
    aiohttp.ServerDisconnectedError: (CUT, 2),
    aiohttp.ServerTimeoutError: (LATE, 2),
    aiohttp.ConnectionTimeoutError: (UNSENT, 2),
    aiohttp.SocketTimeoutError: (LATE, 2),
    aiohttp.ServerFingerprintMismatch: (UNSENT, 2),
    aiohttp.ClientPayloadError: (CUT, 2),
    aiohttp.client_exceptions.UploadAbortedError: (GARBLED, 2),
    aiohttp.InvalidURL: (NOWHERE, 1),
    aiohttp.InvalidUrlClientError: (NOWHERE, 1),
    aiohttp.InvalidUrlRedirectClientError: (NOWHERE, 1),
    aiohttp.RedirectClientError: (GARBLED, 2),
    aiohttp.NonHttpUrlClientError: (NOWHERE, 2),
    aiohttp.NonHttpUrlRedirectClientError: (NOWHERE, 2),
}
OTHERS: dict[type[Exception], Means] = {
    # Not the libraries' own; each was seen to come out of them, but for the last.
    ssl.SSLError: CUT,
    ConnectionResetError: CUT,
    TimeoutError: LATE,
    UnicodeError: NOWHERE,
    ValueError: NOWHERE,
    RuntimeError: GARBLED,
}
MEANS: dict[type[Exception], Means] = {
    **HTTPX, **{kind: means for kind, (means, _) in AIOHTTP.items()}, **OTHERS,
}  # fmt: skip


def made(kind: type[Exception]) -> Exception:
    """An error of this class, as the library would make it."""
    if issubclass(kind, aiohttp.client_exceptions.UnixClientConnectorError):
        return kind("socket", KEY, OSError("no"))
    if issubclass(kind, aiohttp.ClientConnectorError):
        return kind(KEY, NO_NAME if kind is aiohttp.ClientConnectorDNSError else OSError("no"))
    if issubclass(kind, aiohttp.ClientResponseError):
        return kind(INFO, ())
    if issubclass(kind, aiohttp.ServerFingerprintMismatch):
        return kind(b"1", b"2", "example.org", 443)
    if issubclass(kind, httpx.HTTPStatusError):
        return kind("no", request=REQUEST, response=httpx.Response(500))
    if issubclass(kind, httpx.StreamError) and kind is not httpx.StreamError:
        return kind()  # type: ignore[call-arg]
    return kind("no")


GENAI: dict[type[Exception], tuple[Callable[[], Exception], type[ModelError]]] = {
    # class: how it is made, what it is for a judge's call
    genai.APIError: (lambda: genai.APIError(0, {}), TransientError),
    genai.ClientError: (lambda: genai.ClientError(400, {}), RequestRejected),
    genai.ServerError: (lambda: genai.ServerError(500, {}), TransientError),
    genai.UnknownApiResponseError: (genai.UnknownApiResponseError, TransientError),
    genai.UnknownFunctionCallArgumentError: (
        genai.UnknownFunctionCallArgumentError,
        TransientError,
    ),
    genai.UnsupportedFunctionError: (genai.UnsupportedFunctionError, TransientError),
    genai.FunctionInvocationError: (genai.FunctionInvocationError, TransientError),
    genai.ContinuationInterruptedError: (
        lambda: genai.ContinuationInterruptedError("no"),
        TransientError,
    ),
}
STATUSES: dict[type[interactions.APIStatusError], tuple[int, Means]] = {
    # class: its status, what it is for the buying of a report; None: nothing was bought
    interactions.APIStatusError: (418, None),
    interactions.BadRequestError: (400, None),
    interactions.AuthenticationError: (401, None),
    interactions.PermissionDeniedError: (403, None),
    interactions.NotFoundError: (404, None),
    interactions.ConflictError: (409, None),
    interactions.UnprocessableEntityError: (422, None),
    interactions.RateLimitError: (429, ("rate_limit", False)),
    interactions.InternalServerError: (500, ("server", True)),
}
WITHOUT_STATUS: dict[type[Exception], Callable[[], Exception]] = {
    interactions.GeminiNextGenAPIClientError: interactions.GeminiNextGenAPIClientError,
    interactions.APIError: lambda: interactions.APIError("no", REQUEST, body=None),
    interactions.APIConnectionError: lambda: interactions.APIConnectionError(request=REQUEST),
    interactions.APITimeoutError: lambda: interactions.APITimeoutError(REQUEST),
    interactions.APIResponseValidationError: (
        lambda: interactions.APIResponseValidationError(answered(200), None)
    ),
}


def answered(status: int) -> httpx.Response:
    return httpx.Response(status, request=REQUEST)


def of_status(kind: type[interactions.APIStatusError]) -> Exception:
    return kind("no", response=answered(STATUSES[kind][0]), body=None)


def tree(*roots: type[Exception]) -> set[type[Exception]]:
    """These classes and all that their own library has made of them."""
    found = set(roots)
    for root in roots:
        package = root.__module__.partition(".")[0]
        found |= {kind for kind in tree(*root.__subclasses__())
                  if kind.__module__.partition(".")[0] == package}  # fmt: skip
    return found
