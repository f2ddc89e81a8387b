"""A web server that says exactly what a test wants said, byte by byte, however wrong.

A handler gets a request and yields steps: bytes that are sent, seconds that are waited, CUT,
which resets the connection, or GARBLE, which ends it with a record that nobody can decrypt. When
it is through, the connection is closed, unless it yields KEEP last.
"""

import asyncio
import os
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum

HOST = "127.0.0.1"
STARTS_WITHIN_SECONDS = 10.0


class Step(Enum):
    CUT = "cut"
    GARBLE = "garble"
    KEEP = "keep"


CUT, GARBLE, KEEP = Step.CUT, Step.GARBLE, Step.KEEP
RECORD = b"\x17\x03\x03\x00\x20" + b"\xaa" * 32
"""Of TLS, as far as its head goes."""
Steps = Iterable[bytes | float | Step]


@dataclass
class Asked:
    """One request, as it came."""

    target: str
    headers: dict[str, str]
    """Names in lower case."""

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


Handler = Callable[[Asked], Steps]


@dataclass
class Site:
    """A server that runs, and what it was asked."""

    port: int
    asked: list[Asked] = field(default_factory=list)
    n_connections: int = 0
    at_once: int = 0
    most_at_once: int = 0

    @property
    def place(self) -> str:
        return f"{HOST}:{self.port}"

    def url(self, path: str = "/") -> str:
        return f"http://{self.place}{path}"

    def targets(self) -> list[str]:
        return [asked.target for asked in self.asked]


def answer(body: bytes = b"", status: int = 200, **headers: str) -> bytes:
    """A whole answer; `content_type="text/plain"` is the header `content-type`."""
    lines = [f"HTTP/1.1 {status} Because", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


@contextmanager
def serving_pages(handler: Handler, tls: ssl.SSLContext | None = None) -> Iterator[Site]:
    """Serve from a thread on loopback for as long as the block lasts."""
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    started: list[Site] = []
    ready = threading.Event()

    async def run() -> None:
        tasks: set[asyncio.Task[None]] = set()

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            tasks.add(task)
            started[0].n_connections += 1
            try:
                with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                    while await _answer(handler, started[0], reader, writer):
                        pass
            finally:
                tasks.discard(task)
                writer.transport.abort()

        server = await asyncio.start_server(accept, HOST, 0, ssl=tls, backlog=1024)
        started.append(Site(server.sockets[0].getsockname()[1]))
        ready.set()
        await stop.wait()
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    thread = threading.Thread(target=lambda: loop.run_until_complete(run()), daemon=True)
    thread.start()
    if not ready.wait(STARTS_WITHIN_SECONDS):
        raise RuntimeError("the page server does not start")
    try:
        yield started[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


async def _answer(
    handler: Handler, site: Site, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bool:
    """Answer one request; whether the connection stays."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    named = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in named}
    asked = Asked(first.split(" ")[1], headers)
    site.asked.append(asked)
    site.at_once += 1
    site.most_at_once = max(site.most_at_once, site.at_once)
    try:
        for step in handler(asked):
            if isinstance(step, bytes):
                writer.write(step)
                await writer.drain()
            elif isinstance(step, float):
                await asyncio.sleep(step)
            elif step is KEEP:
                return True
            elif step is GARBLE:
                await asyncio.sleep(0.02)  # what was sent before it goes out first
                os.write(writer.get_extra_info("socket").fileno(), RECORD)
                await asyncio.sleep(0.02)
                return False
            else:
                await asyncio.sleep(0.02)  # a reset throws away what was not read yet
                connection = writer.get_extra_info("socket")
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return False
        writer.close()
        await writer.wait_closed()
        return False
    finally:
        site.at_once -= 1
