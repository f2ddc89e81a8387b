"""Running the service: bound first, so that its address is known, until Ctrl-C."""

import asyncio
import logging
import socket
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from tasks.sandbox.errors import SandboxError

BACKLOG = 512
GRACE_SECONDS = 3
"""For requests under way when the server is to end."""


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes any that is free.

    Raises:
        SandboxError: the port is taken, or the address is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Said to be TCP: only then does asyncio send small answers at once, not 40 ms later.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise SandboxError(
            f"{host}:{port} cannot be listened on ({error.strerror or error}). Choose another "
            "--port or --host."
        ) from None
    return listening


def address_of(listening: socket.socket) -> str:
    """The server's address as one on this machine opens it."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class Telling(uvicorn.Server):
    """Tells when it takes requests."""

    def __init__(self, app: FastAPI, ready: Callable[[], None]) -> None:
        config = uvicorn.Config(
            app,
            access_log=False,  # it would hold the queries
            log_level="warning",
            proxy_headers=False,  # anybody could claim another's address
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        super().__init__(config)
        logging.getLogger("uvicorn.error").addFilter(_is_worth_saying)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


def _is_worth_saying(record: logging.LogRecord) -> bool:
    """Not that a request was given up because the server ends while its client is slow."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


async def serve(app: FastAPI, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until SIGINT or SIGTERM. `ready` is called once requests are taken."""
    await Telling(app, ready).serve(sockets=[listening])
