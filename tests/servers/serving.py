"""Running a server: in a thread of the test's process, or as the only thing a process does."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from tests.servers.http import Handler, HttpProtocol

HOST = "127.0.0.1"
STARTS_WITHIN_SECONDS = 10.0
StartedT = TypeVar("StartedT")


@contextmanager
def in_thread(
    run: Callable[[Callable[[StartedT], None], asyncio.Event], Coroutine[Any, Any, None]],
) -> Iterator[StartedT]:
    """Run a server in a thread for as long as the block lasts; gives what it announces.

    run: from what to call once connections are taken, and what is set when it shall end.
    """
    started: list[StartedT] = []
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    def announce(what: StartedT) -> None:
        started.append(what)
        ready.set()

    def serve_on() -> None:
        try:
            loop.run_until_complete(run(announce, stop))
        finally:
            ready.set()
            loop.close()

    thread = threading.Thread(target=serve_on, name="server", daemon=True)
    thread.start()
    if not ready.wait(STARTS_WITHIN_SECONDS) or not started:
        raise RuntimeError("the server does not start: is its port taken?")
    try:
        yield started[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()


@contextmanager
def serving(handler: Handler, port: int = 0) -> Iterator[str]:
    """Serve from a thread for as long as the block lasts; gives `http://127.0.0.1:port`.

    The server's state belongs to the handler's owner: serving it again, on the same `port`,
    is the same server after a restart. At the end all connections are cut.
    """
    with in_thread(partial(serve, handler, port)) as listening_on:
        yield f"http://{HOST}:{listening_on}"


async def serve(
    handler: Handler, port: int, announce: Callable[[int], None], stop: asyncio.Event
) -> None:
    """Listen until `stop` is set; `announce` is told the port once connections are taken."""
    connections: set[asyncio.BaseTransport] = set()

    class Kept(HttpProtocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            connections.add(transport)
            super().connection_made(transport)

        def connection_lost(self, exc: Exception | None) -> None:
            connections.discard(self._transport)

    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Kept(handler), HOST, port, backlog=1024)
    announce(server.sockets[0].getsockname()[1])
    try:
        await stop.wait()
    finally:
        server.close()
        for transport in list(connections):
            if isinstance(transport, asyncio.Transport):
                transport.abort()
        await asyncio.sleep(0)
