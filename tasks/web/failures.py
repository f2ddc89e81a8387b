"""What went wrong on the way to a page's server and back, in words."""

import socket
import ssl

import aiohttp

from tasks.models.failures import without_what_was_read
from tasks.web.errors import Failed, Stage, shown

FOREIGN = (aiohttp.ClientError, OSError, ValueError, TimeoutError)
"""All that sending a request to a stranger, and reading the answer, was seen to raise."""
_NO_SUCH_NAME = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}


def failure(error: Exception, host: str, stage: Stage) -> Failed:
    """The failure that a library's error means.

    stage: how far the request came at least; errors of connecting say so themselves.
    """
    reason = str(error)
    match error:
        case aiohttp.ClientConnectorDNSError() if error.os_error.errno in _NO_SUCH_NAME:
            return Failed(f"there is no host {host} (DNS)", "connecting", host=host)
        case aiohttp.ClientConnectorDNSError():
            words = f"{host} could not be resolved ({error.os_error.strerror})"
            return Failed(words, "connecting", host=host, heals=True)
        case aiohttp.ClientConnectorCertificateError():
            words = f"{host} has no valid certificate ({_certificate(error.certificate_error)})"
            return Failed(words, "waiting", host=host)
        case aiohttp.ClientConnectorSSLError():
            words = f"{host}: no secure connection ({shown(str(error.os_error))})"
            return Failed(words, "waiting", host=host)
        case aiohttp.ClientConnectorError():
            words = f"{host} cannot be reached ({error.os_error.strerror or error.os_error})"
            return Failed(words, "connecting", host=host, heals=True)
        case aiohttp.ConnectionTimeoutError():
            words = f"{host} cannot be reached: no connection in time"
            return Failed(words, "connecting", host=host, heals=True)
        case socket.gaierror():
            return Failed(f"{host} could not be resolved ({error.strerror})", "connecting",
                          host=host, heals=error.errno not in _NO_SUCH_NAME)  # fmt: skip
        case aiohttp.SocketTimeoutError() | TimeoutError():
            words = f"{host} fell silent"
        case aiohttp.ServerDisconnectedError():
            words = f"{host} hung up without an answer"
        case aiohttp.ClientPayloadError():
            words = f"{host}: the answer broke off"
        case aiohttp.ClientResponseError():
            said = shown(without_what_was_read(error.message))
            words = f"{host}: the answer is no HTTP that can be read ({said})"
        case OSError():
            words = f"{host}: the connection was cut ({error.strerror or type(error).__name__})"
        case _:
            words = f"{host}: {type(error).__name__} {shown(reason)}".strip()
    return Failed(words, stage, host=host, heals=True)


def _certificate(error: Exception) -> str:
    reason = error.verify_message if isinstance(error, ssl.SSLCertVerificationError) else str(error)
    return shown(str(reason))
