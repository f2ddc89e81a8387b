"""A server's connections: who owes something has a time for it, and a full server makes room."""

import asyncio
import resource
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from tasks.serving.connections import CLIENT_SECONDS, DESCRIPTORS, BoundedServer, Connection

ASKED = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
POSTED = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"
UPGRADED = (
    b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)


class Transport(asyncio.Transport):
    """What a client got, and whether its connection was ended."""

    def __init__(self) -> None:
        super().__init__()
        self.got, self.unread, self.ended = b"", 0, False

    def write(self, data: Any) -> None:
        self.got += data

    def get_write_buffer_size(self) -> int:
        return self.unread

    def is_closing(self) -> bool:
        return self.ended

    def close(self) -> None:
        self.ended = True

    abort = close

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def set_protocol(self, protocol: Any) -> None: ...


@dataclass
class Served:
    """A server without a network, in a time that passes when a test says so."""

    places: int = 100
    now: float = 0.0
    answers: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.server = BoundedServer(self.answer, interface="asgi3", ws="websockets-sansio")
        self.server.config.limit_concurrency = self.places
        self.server.config.load()
        self.answers.set()

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await Request(scope, receive).body()
            await self.answers.wait()
            await PlainTextResponse("well")(scope, receive, send)

    def time(self) -> float:
        return self.now

    def call_later(self, _: float, then: Callable[[], None]) -> asyncio.Handle:
        return asyncio.get_running_loop().call_later(3600, then)

    def create_task(self, work: Any) -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(work)

    def connect(self) -> tuple[Connection, Transport]:
        made: Any = Connection(self.server.config, self.server.server_state, {}, self)  # type: ignore[arg-type]
        transport = Transport()
        made.connection_made(transport)
        return made, transport

    async def after(self, seconds: float) -> None:
        """Let time pass and the server look at its connections."""
        for _ in range(20):
            await asyncio.sleep(0)
        await self.server.on_tick(1)
        self.now += seconds
        await self.server.on_tick(1)


def serving(work: Callable[[Served], Awaitable[None]], places: int = 100) -> None:
    async def run() -> None:
        await work(Served(places))

    asyncio.run(run())


@pytest.mark.parametrize("drips", [b"", b"G"])
@pytest.mark.parametrize(
    "owing",
    [b"", b"GET / HTTP/1.1\r\nHost", POSTED, POSTED + b"{", ASKED, ASKED + b"GET / HT",
     ASKED + POSTED + b"{"],
)  # fmt: skip
def test_who_owes_a_request_is_dropped_in_time(owing: bytes, drips: bytes) -> None:
    """Be a client silent or slow, at its first request, with its body or at the next request."""

    async def work(served: Served) -> None:
        connection, transport = served.connect()
        if owing:
            connection.data_received(owing)
        await served.after(0)
        for _ in range(int(CLIENT_SECONDS)):
            await served.after(1)
            assert not transport.ended
            if drips:
                connection.data_received(drips)
        await served.after(1)
        assert transport.ended
        assert not served.server.server_state.connections

    serving(work)


def test_who_asks_again_and_again_stays() -> None:
    async def work(served: Served) -> None:
        connection, transport = served.connect()
        for n in range(1, 5):
            await served.after(CLIENT_SECONDS - 1)
            connection.data_received(ASKED)
            await served.after(0)
            assert transport.got.count(b"well") == n
        assert not transport.ended

    serving(work)


def test_who_waits_for_our_answer_may_wait() -> None:
    async def work(served: Served) -> None:
        served.answers.clear()
        connection, transport = served.connect()
        connection.data_received(ASKED)
        for _ in range(3):
            await served.after(CLIENT_SECONDS + 1)
        assert not transport.ended
        served.answers.set()
        await served.after(CLIENT_SECONDS - 1)
        assert b"well" in transport.got
        assert not transport.ended

    serving(work)


def test_who_does_not_read_an_answer_is_dropped() -> None:
    """A client that reads slowly is not, as long as it reads."""

    async def work(served: Served) -> None:
        (reading, read), (silent, unread) = served.connect(), served.connect()
        reading.data_received(ASKED)
        silent.data_received(ASKED)
        read.unread = unread.unread = 1000
        for _ in range(3):
            read.unread -= 100
            await served.after(CLIENT_SECONDS / 2 + 1)
        assert unread.ended
        assert not read.ended

    serving(work)


def test_a_full_server_makes_room_where_a_client_has_owed_the_longest() -> None:
    async def work(served: Served) -> None:
        served.answers.clear()
        busy, silent = [served.connect() for _ in range(2)], []
        for connection, _ in busy:
            connection.data_received(ASKED)
        for _ in range(10):
            await served.after(1)
            silent.append(served.connect())
        asking, got = served.connect()
        asking.data_received(ASKED)
        served.answers.set()
        await served.after(0)
        assert b"well" in got.got
        assert all(b"well" in transport.got for _, transport in busy)
        assert [transport.ended for _, transport in silent] == [True] * 9 + [False]
        assert len(served.server.server_state.connections) < 5

    serving(work, places=5)


def test_a_server_that_is_busy_everywhere_says_so() -> None:
    async def work(served: Served) -> None:
        served.answers.clear()
        for _ in range(5):
            served.connect()[0].data_received(ASKED)
            await served.after(0)
        asking, got = served.connect()
        asking.data_received(ASKED)
        await served.after(0)
        assert got.got.startswith(b"HTTP/1.1 503 ")

    serving(work, places=5)


def test_web_sockets_leave_half_of_the_places() -> None:
    async def work(served: Served) -> None:
        made = [served.connect() for _ in range(8)]
        for connection, _ in made:
            connection.data_received(UPGRADED)
        assert [transport.ended for _, transport in made] == [False] * 5 + [True] * 3

    serving(work, places=10)


@pytest.mark.parametrize(
    ("soft", "hard", "has"),
    [(256, resource.RLIM_INFINITY, DESCRIPTORS), (256, 1024, 1024), (128, 128, 128),
     (20_000, 20_000, DESCRIPTORS), (resource.RLIM_INFINITY, resource.RLIM_INFINITY, DESCRIPTORS)],
)  # fmt: skip
def test_a_server_takes_the_descriptors_that_it_may_have(
    soft: int, hard: int, has: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = [(soft, hard)]
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda _, given: limits.append(given))
    config = BoundedServer(PlainTextResponse("well")).config
    assert limits[-1][0] in (has, soft)
    assert limits[-1][1] == hard
    assert limits[-1][0] == resource.RLIM_INFINITY or limits[-1][0] >= has
    # asyncio may hold four more batches of connections that it has accepted.
    assert 0 < (config.limit_concurrency or 0) + 4 * config.backlog <= has / 2 + 4
