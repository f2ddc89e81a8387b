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
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum

from tests.servers.serving import HOST, in_thread


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

    async def run(announce: Callable[[Site], None], stop: asyncio.Event) -> None:
        tasks: set[asyncio.Task[None]] = set()
        site = Site(0)

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            tasks.add(task)
            site.n_connections += 1
            try:
                with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                    while await _answer(handler, site, reader, writer):
                        pass
            finally:
                tasks.discard(task)
                writer.transport.abort()

        server = await asyncio.start_server(accept, HOST, 0, ssl=tls, backlog=1024)
        site.port = server.sockets[0].getsockname()[1]
        announce(site)
        await stop.wait()
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    with in_thread(run) as site:
        yield site


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
