"""Run the service until Ctrl-C, on a socket that is opened first, so that its URL is known."""

import asyncio
import logging
import socket
from collections.abc import Callable

from fastapi import FastAPI

from tasks.sandbox.errors import SandboxError
from tasks.serving.connections import BACKLOG, BoundedServer

GRACE_SECONDS = 3
"""Time limit for requests in progress at shutdown."""


def open_socket(host: str, port: int) -> socket.socket:
    """Open a listening socket; port 0 chooses a free port.

    Raises:
        SandboxError: the port is in use, or the address is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns off Nagle's delay of 40 ms only if the protocol is given as TCP.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise SandboxError(
            f"Cannot listen on {host}:{port} ({error.strerror or error}). Choose another --port "
            "or --host."
        ) from None
    return listening


def server_url(listening: socket.socket) -> str:
    """Return the server's URL for this machine."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class NotifyingServer(BoundedServer):
    """A server that calls `ready` once it accepts requests."""

    def __init__(self, app: FastAPI, ready: Callable[[], None]) -> None:
        super().__init__(
            app,
            access_log=False,  # it would contain the queries
            proxy_headers=False,  # any client could claim another's address
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        logging.getLogger("uvicorn.error").addFilter(_is_worth_logging)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Filter out requests that were cancelled at shutdown because their clients were slow."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


async def serve(app: FastAPI, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until SIGINT or SIGTERM. `ready` is called once requests are accepted."""
    await NotifyingServer(app, ready).serve(sockets=[listening])
