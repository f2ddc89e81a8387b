"""The connections of each of our servers: fewer than it has descriptors, and none is idle for long.

A client that owes something (the rest of a request, or reading its answer) has a limited time for
it. When all places are taken, the one that has owed the longest makes room.
"""

import resource
import signal
import socket
from contextlib import suppress
from io import StringIO
from typing import Any

import h11
import uvicorn
from rich.console import Console
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

CLIENT_SECONDS = 30.0
"""How long a client may owe the same."""
DESCRIPTORS = 4096
"""How many descriptors a server uses, if the system lets it have them."""
BACKLOG = 512
"""How many connections wait to be accepted."""


class Connection(H11Protocol):
    """A connection that is dropped if its client is too slow, or to make room for another."""

    owed: object = None
    since = 0.0
    """When it began to owe that."""

    def connection_made(self, transport: Any) -> None:
        self.since = self.loop.time()
        super().connection_made(transport)
        if self._are_too_many(len(self.connections)):
            slow = [c for c in self.connections if isinstance(c, Connection) and c.find_owed()]
            if (slowest := min(slow, key=lambda c: (c is self, c.since))) is not self:
                slowest.drop()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Become a WebSocket; those may stay silent, but have no more than half of the places."""
        n = sum(not isinstance(c, Connection) for c in self.connections)
        if self._are_too_many(2 * n):
            self.drop()
        else:
            super().handle_websocket_upgrade(event)

    def find_owed(self) -> object:
        """Return what the client owes, which differs for each request; None: it waits for us."""
        unread = self.transport.get_write_buffer_size()
        owes = unread or self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        return (self.conn.their_state, self.cycle, unread) if owes else None

    def check(self, now: float) -> None:
        """Drop the connection if its client has owed the same for too long."""
        if (owed := self.find_owed()) != self.owed:
            self.owed, self.since = owed, now
        elif owed and now - self.since > CLIENT_SECONDS:
            self.drop()

    def drop(self) -> None:
        """End the connection at once."""
        self.connections.discard(self)
        self.transport.abort()

    def _are_too_many(self, connections: int) -> bool:
        return self.limit_concurrency is not None and connections >= self.limit_concurrency


class BoundedServer(uvicorn.Server):
    """A server whose connections leave its process descriptors for all else."""

    def __init__(self, app: ASGIApp, **options: Any) -> None:
        """options: further ones of uvicorn."""
        places = raise_limit() // 3
        # asyncio accepts as many at once as may wait, some times before the first is a connection.
        options |= {"limit_concurrency": places, "backlog": max(1, places // 8)}
        super().__init__(uvicorn.Config(app, http=Connection, log_level="warning", **options))

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            raise OSError
        except OSError:  # what a log imports to print an exception, it imports now
            Console(file=StringIO()).print_exception()
        await super().startup(sockets)
        for listening in sockets or []:
            listening.listen(BACKLOG)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        with suppress(ValueError):  # uvicorn would raise it once more: a second Ctrl-C
            self._captured_signals.remove(signal.SIGINT)

    async def on_tick(self, counter: int) -> bool:
        for connection in [*self.server_state.connections]:
            if isinstance(connection, Connection):
                connection.check(connection.loop.time())
        return await super().on_tick(counter)


def raise_limit() -> int:
    """Let this process have as many descriptors as a server uses; return how many it has."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return most
