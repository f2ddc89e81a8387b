"""A lean HTTP/1.1 server: what a fake endpoint needs of the protocol, and ways to break it.

Written by hand because it shares the machine's cores with the client it measures: one core
gives several thousand answers a second. A handler is a plain function, called when a request is
whole; how long the answer takes is a timer, not a task.
"""

import asyncio
import gzip
import json
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, cast
from urllib.parse import parse_qs, unquote, urlsplit

Break = Literal[
    "reset", "reset_mid_body", "half_body", "stall_mid_body", "bad_gzip", "cut_gzip",
    "unknown_encoding",
]  # fmt: skip
"""How an answer fails to arrive: nothing of it and a reset, half of it and a reset, half of it
and an orderly end, half of it and then silence; or whole, and packed so that nobody can unpack
it: not as it says, only the first half of it, in a way nobody knows."""
PACKED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "bad_gzip": ("gzip", lambda body: b"no gzip: " + body),
    "cut_gzip": ("gzip", lambda body: halved(gzip.compress(body))),
    "unknown_encoding": ("x-unheard-of", gzip.compress),
}
"""What such a body says it is packed in, and what it is."""
REASONS = {
    200: "OK", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
    408: "Request Timeout", 411: "Length Required", 422: "Unprocessable Entity",
    429: "Too Many Requests", 500: "Internal Server Error", 502: "Bad Gateway",
    503: "Service Unavailable",
}  # fmt: skip
HTML = "text/html; charset=utf-8"


@dataclass(slots=True)
class Request:
    """One request, whole."""

    method: str
    target: str
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def path(self) -> str:
        return unquote(urlsplit(self.target).path)

    @property
    def query(self) -> dict[str, str]:
        return {name: values[-1] for name, values in parse_qs(urlsplit(self.target).query).items()}

    def json(self) -> Any:
        """The body as JSON.

        Raises:
            ValueError: it is not.
        """
        return json.loads(self.body)


@dataclass(slots=True)
class Response:
    """One answer, and how it travels."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()
    delay_seconds: float = 0.0
    reason: str | None = None
    """In place of the status's usual words."""
    broken: Break | None = None
    on_end: Callable[[bool], None] | None = None
    """Called once: whether the whole answer was handed to a socket that was still open."""

    def encoded(self) -> bytes:
        lines = [
            f"HTTP/1.1 {self.status} {self.reason or REASONS.get(self.status, 'Unknown')}",
            f"Content-Type: {self.content_type}",
            f"Content-Length: {len(self.body)}",
            *(f"{name}: {value}" for name, value in self.headers),
            "\r\n",
        ]
        return "\r\n".join(lines).encode("latin-1") + self.body

    def packed(self) -> "Response":
        """As it travels where its body is one of `PACKED`."""
        if self.broken not in PACKED:
            return self
        says, pack = PACKED[self.broken]
        headers = (*self.headers, ("Content-Encoding", says))
        return replace(self, body=pack(self.body), headers=headers)


def halved(body: bytes) -> bytes:
    return body[: len(body) // 2]


def json_response(body: Any, status: int = 200, **more: Any) -> Response:
    """An answer whose body is `body` as JSON."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return Response(status, text.encode("utf-8", "surrogatepass"), **more)


Handler = Callable[[Request], Response]


class HttpProtocol(asyncio.Protocol):
    """One connection: request after request, one at a time."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._buffer = bytearray()
        self._head: Request | None = None
        self._body_length = 0
        self._busy = False
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        connection = transport.get_extra_info("socket")
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._busy:
            self._take()

    def _take(self) -> None:
        """Answer the next request, if all of it is here."""
        if self._head is None and not self._take_head():
            return
        head = self._head
        if head is None or len(self._buffer) < self._body_length:
            return
        head.body = bytes(self._buffer[: self._body_length])
        del self._buffer[: self._body_length]
        self._head = None
        self._busy = True
        response = self._handler(head)
        if head.headers.get("connection", "").lower() == "close":
            response.headers += (("Connection", "close"),)
        if response.delay_seconds > 0:
            asyncio.get_running_loop().call_later(response.delay_seconds, self._send, response)
        else:
            self._send(response)

    def _take_head(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return False
        first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
        del self._buffer[: end + 4]
        method, target, _ = first.split(" ", 2)
        headers: dict[str, str] = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        if "transfer-encoding" in headers:
            self._transport.write(Response(411).encoded())
            self._transport.close()
            return False
        self._body_length = int(headers.get("content-length", "0"))
        self._head = Request(method, target, headers, b"")
        return True

    def _send(self, response: Response) -> None:
        is_open = not self._transport.is_closing()
        if is_open:
            self._write(response)
        if response.on_end:
            response.on_end(is_open and response.broken is None)
        if is_open and response.broken != "stall_mid_body":
            self._busy = False
            if self._buffer:
                self._take()

    def _write(self, response: Response) -> None:
        whole = response.packed().encoded()
        half = whole[: len(whole) - (len(response.body) + 1) // 2]
        if response.broken is None or response.broken in PACKED:
            self._transport.write(whole)
            if ("Connection", "close") in response.headers:
                self._transport.close()
        elif response.broken == "reset":
            self._reset()
        elif response.broken == "reset_mid_body":
            self._transport.write(half)
            # A reset throws away what the client has not read yet: give it a moment.
            asyncio.get_running_loop().call_later(0.02, self._reset)
        else:
            self._transport.write(half)
            if response.broken == "half_body":
                self._transport.close()

    def _reset(self) -> None:
        """Close with a TCP RST in place of an orderly end."""
        connection = self._transport.get_extra_info("socket")
        if not self._transport.is_closing():
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()
