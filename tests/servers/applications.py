"""Running an ASGI application over a real socket, in a thread of the test's process."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from fastapi import FastAPI

from tasks.sandbox.service import NotifyingServer, open_socket, server_url
from tasks.serving.gate import Gate
from tests.servers.serving import HOST

STARTS_WITHIN_SECONDS = 300.0


@contextmanager
def serving_application(make: Callable[[], Awaitable[FastAPI | Gate]]) -> Iterator[str]:
    """Serve for as long as the block lasts; gives `http://127.0.0.1:port`.

    make: makes the application in the loop that serves it.
    """
    listening = open_socket(HOST, 0)
    ready = threading.Event()
    servers: list[NotifyingServer] = []

    async def run() -> None:
        servers.append(NotifyingServer(await make(), ready.set))  # type: ignore[arg-type]
        await servers[0].serve(sockets=[listening])

    thread = threading.Thread(target=lambda: asyncio.run(run()), name="application", daemon=True)
    thread.start()
    if not ready.wait(STARTS_WITHIN_SECONDS):
        raise RuntimeError("the application did not start; see above")
    try:
        yield server_url(listening)
    finally:
        servers[0].should_exit = True
        thread.join()
