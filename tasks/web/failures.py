"""Turn the network errors of libraries into `FetchFailed`, with a plain message."""

import socket
import ssl

import aiohttp

from tasks.models.failures import strip_received_bytes
from tasks.web.errors import FetchFailed, Phase, printable

NETWORK_ERRORS = (aiohttp.ClientError, OSError, ValueError, TimeoutError)
"""Every error seen while sending a request to unknown servers and reading the answer."""
_NO_SUCH_NAME = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}


def convert_error(error: Exception, host: str, phase: Phase) -> FetchFailed:
    """Return the `FetchFailed` for a library's error.

    phase: how far the request got at least; connection errors tell it themselves.
    """
    reason = str(error)
    match error:
        case aiohttp.ClientConnectorDNSError() if error.os_error.errno in _NO_SUCH_NAME:
            return FetchFailed(f"there is no host {host} (DNS)", "connecting", host=host)
        case aiohttp.ClientConnectorDNSError():
            words = f"{host} could not be resolved ({error.os_error.strerror})"
            return FetchFailed(words, "connecting", host=host, retryable=True)
        case aiohttp.ClientConnectorCertificateError():
            words = (
                f"{host} has no valid certificate ({_certificate_error(error.certificate_error)})"
            )
            return FetchFailed(words, "waiting", host=host)
        case aiohttp.ClientConnectorSSLError():
            words = f"{host}: no secure connection ({printable(str(error.os_error))})"
            return FetchFailed(words, "waiting", host=host)
        case aiohttp.ClientConnectorError():
            words = f"{host} cannot be reached ({error.os_error.strerror or error.os_error})"
            return FetchFailed(words, "connecting", host=host, retryable=True)
        case aiohttp.ConnectionTimeoutError():
            words = f"{host} cannot be reached: no connection in time"
            return FetchFailed(words, "connecting", host=host, retryable=True)
        case socket.gaierror():
            return FetchFailed(
                f"{host} could not be resolved ({error.strerror})",
                "connecting",
                host=host,
                retryable=error.errno not in _NO_SUCH_NAME,
            )
        case aiohttp.SocketTimeoutError() | TimeoutError():
            words = f"{host} fell silent"
        case aiohttp.ServerDisconnectedError():
            words = f"{host} hung up without an answer"
        case aiohttp.ClientPayloadError():
            words = f"{host}: the answer broke off"
        case aiohttp.ClientResponseError():
            text = printable(strip_received_bytes(error.message))
            words = f"{host}: the answer is no HTTP that can be read ({text})"
        case aiohttp.InvalidURL():
            words = f"{host}: the address cannot be requested ({printable(reason)})"
            return FetchFailed(words, "connecting", host=host)
        case OSError():
            words = f"{host}: the connection was cut ({error.strerror or type(error).__name__})"
        case _:
            words = f"{host}: {type(error).__name__} {printable(reason)}".strip()
    return FetchFailed(words, phase, host=host, retryable=True)


def _certificate_error(error: Exception) -> str:
    reason = error.verify_message if isinstance(error, ssl.SSLCertVerificationError) else str(error)
    return printable(str(reason))
