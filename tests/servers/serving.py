"""Running a server: in a thread of the test's process, or as the only thing a process does."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.servers.http import Handler, HttpProtocol

HOST = "127.0.0.1"
STARTS_WITHIN_SECONDS = 10.0


@contextmanager
def serving(handler: Handler, port: int = 0) -> Iterator[str]:
    """Serve from a thread for as long as the block lasts; gives `http://127.0.0.1:port`.

    The server's state belongs to the handler's owner: serving it again, on the same `port`,
    is the same server after a restart. At the end all connections are cut.
    """
    loop = asyncio.new_event_loop()
    started: list[int] = []
    ready = threading.Event()
    stop = asyncio.Event()

    def announce(listening_on: int) -> None:
        started.append(listening_on)
        ready.set()

    def run() -> None:
        try:
            loop.run_until_complete(serve(handler, port, announce, stop))
        finally:
            ready.set()
            loop.close()

    thread = threading.Thread(target=run, name="model-server", daemon=True)
    thread.start()
    if not ready.wait(STARTS_WITHIN_SECONDS) or not started:
        raise RuntimeError(f"no server on {HOST}:{port}: is the port taken?")
    try:
        yield f"http://{HOST}:{started[0]}"
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()


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
