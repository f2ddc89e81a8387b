"""A program, or another process of the same machine, at the relay to the sandbox"""

import socket
import struct
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from tasks.agents.isolation import relay
from tasks.agents.isolation.relay import SandboxRelay

TOKEN = "the token of a job"


class Heard(BaseHTTPRequestHandler):
    """A server that stands where the sandbox is."""

    protocol_version = "HTTP/1.1"
    requests: ClassVar[list[tuple[str, dict[str, str], bytes]]] = []
    answer = b"answer"

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.requests.append((self.requestline, headers, body))
        self.send_response(302)
        self.send_header("Location", "http://127.0.0.1:1/")
        self.send_header("Content-Length", str(len(self.answer)))
        self.end_headers()
        self.wfile.write(self.answer)

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its name)
        pass


@pytest.fixture
def opened() -> Iterator[SandboxRelay]:
    """A relay to a server under a path of its own."""
    Heard.requests.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Heard) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        with SandboxRelay(f"http://127.0.0.1:{server.server_port}/sandbox", TOKEN) as made:
            made.start()
            yield made
            made.shutdown()
        server.shutdown()


def connect(to: SandboxRelay) -> socket.socket:
    """A connection of the program."""
    one = socket.socket()
    one.settimeout(5)
    one.bind(("127.0.0.1", 0))
    to.expect(one.getsockname()[1])
    one.connect(("127.0.0.1", to.server_port))
    return one


def connect_from(place: tuple[str, int], to: SandboxRelay) -> bytes:
    """What another process hears."""
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.settimeout(5)
        other.bind(place)
        try:
            other.connect(("127.0.0.1", to.server_port))
            other.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
            return other.recv(100)
        except ConnectionError:
            return b""


def ask(to: SandboxRelay, request: str) -> bytes:
    with connect(to) as one:
        one.sendall(request.encode("latin-1"))
        one.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: one.recv(65536), b""))


def test_a_relay_serves_its_own_program_alone(opened: SandboxRelay) -> None:
    """No other process gets to the sandbox by a program's relay, which adds the job's token."""
    assert b"answer" in ask(opened, "GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
    with connect(opened) as one:
        port = one.getsockname()[1]
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        one.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
        assert one.recv(12) == b"HTTP/1.1 302"
    for place in (("127.0.0.1", 0), ("127.0.0.2", 0), ("127.0.0.1", port)):
        assert connect_from(place, opened) == b""
    assert len(Heard.requests) == 2


@pytest.mark.parametrize(
    "path",
    ["/../admin", "/a/../../admin", "/%2e%2e/admin", "/%2E./admin", "/..%2fadmin", "/./x",
     "http://evil.example/../..", "//../admin", "/../admin?x"],
)  # fmt: skip
def test_no_path_leads_out_of_the_sandbox(opened: SandboxRelay, path: str) -> None:
    """No path of a program's request leads out of the sandbox's own."""
    assert b" 400 " in ask(opened, f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")
    assert Heard.requests == []


@pytest.mark.parametrize(
    "request_",
    ["GET http://evil.example/x HTTP/1.1\r\nHost: evil.example\r\n\r\n",
     "GET //evil.example/x HTTP/1.1\r\nHost: evil.example\r\n\r\n",
     "GET @evil.example/x HTTP/1.1\r\n\r\n",
     "GET /x?u=http://evil.example/../y HTTP/1.1\r\n\r\n",
     "GET /x HTTP/1.0\r\nX-Forwarded-For: 6.6.6.6\r\nForwarded: for=6.6.6.6\r\n\r\n",
     "GET /x HTTP/1.1\r\nAuthorization: mine\r\nauthorization : mine\r\nX_API_KEY: mine\r\n\r\n",
     "GET /x HTTP/1.1\r\nAccept: a\r\n Authorization: Bearer mine\r\n\r\n",
     "GET /x HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n\r\n",
     "GET /x HTTP/1.1\r\nAccept: a\rAuthorization: mine\r\n\r\n",
     "POST /x HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\nGET ",
     "POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     "POST /x HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 30\r\n\r\nab",
     "POST /x HTTP/1.1\r\nX-HTTP-Method-Override: DELETE\r\nContent-Length: 2\r\n\r\nab"],
)  # fmt: skip
def test_a_request_says_no_more_than_it_may(opened: SandboxRelay, request_: str) -> None:
    """Whatever a program sends becomes one plain request to the sandbox, with the job's token."""
    ask(opened, request_)
    [(line, headers, _), *more] = Heard.requests
    assert (more, line.split()[1].startswith("/sandbox/")) == ([], True)
    assert headers["host"] == f"127.0.0.1:{opened.target.port}"
    assert headers["authorization"] == f"Bearer {TOKEN}"
    assert set(headers) <= {"host", "authorization", "accept", "accept-encoding", "content-length"}


@pytest.mark.parametrize(
    "request_",
    ["CONNECT evil.example:80 HTTP/1.1\r\n\r\n", "DELETE /x HTTP/1.1\r\n\r\n",
     "PUT /x HTTP/1.1\r\n\r\n", "GET /x\x01y HTTP/1.1\r\n\r\n", "GET /\xe9 HTTP/1.1\r\n\r\n",
     "POST /x HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n",
     "POST /x HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
     "POST /x HTTP/1.1\r\nContent-Length: " + "9" * 5000 + "\r\n\r\n"],
)  # fmt: skip
def test_what_is_no_plain_request_is_not_sent_on(opened: SandboxRelay, request_: str) -> None:
    """A relay sends on neither other methods nor broken or large requests."""
    answer = ask(opened, request_)
    assert b" 302 " not in answer
    assert Heard.requests == []


def test_a_relay_follows_nothing(opened: SandboxRelay) -> None:
    """A relay follows no redirection, and tells the program of none."""
    answer = ask(opened, "GET /x HTTP/1.1\r\n\r\n")
    assert (b" 302 " in answer, b"Location" in answer) == (True, False)


def test_a_relay_keeps_little_in_memory(
    opened: SandboxRelay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relay holds a bounded number of connections, each with a bounded answer."""
    monkeypatch.setattr(relay, "MAX_ANSWER_BYTES", 3)
    assert b" 502 " in ask(opened, "GET /x HTTP/1.1\r\n\r\n")
    held = [connect(opened) for _ in range(relay.MAX_CONNECTIONS)]
    for one in held:
        one.sendall(b"GET /x HTTP/1.1\r\nSlowly: ")
    with connect(opened) as further:
        assert further.recv(1) == b""
    for one in held:
        one.close()
