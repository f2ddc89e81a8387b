"""Malformed HTTP requests"""

import socket
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from flows.runtime.login import LoginPage
from flows.runtime.server_process import content_security_policy, own_names
from tasks.serving.gate import Gate, OwnNames, serving_names
from tests.servers.applications import serving_application

PORT = 4200
BODY = "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


async def act(request: Request) -> JSONResponse:
    """What a request that came through does."""
    return JSONResponse({"did": (await request.body()).decode(), "path": request.url.path})


async def behind_the_gate() -> Gate:
    """A server behind the gate of a local Prefect server."""
    routes = [Route("/{path:path}", act, methods=["GET", "POST", "PUT", "PATCH", "DELETE"])]
    return Gate(LoginPage(Starlette(routes=routes)), own_names(PORT))


@pytest.fixture(scope="module")
def server() -> Iterator[int]:
    """Its port."""
    with serving_application(behind_the_gate) as address:
        yield int(address.rpartition(":")[2])


def send(port: int, request: str) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as one:
        one.sendall(request.encode("latin-1"))
        one.shutdown(socket.SHUT_WR)
        try:
            return b"".join(iter(lambda: one.recv(65536), b""))
        except ConnectionError:
            return b""


OWN = "Host: localhost\r\n"


def test_our_own_requests_come_through(server: int) -> None:
    assert b'"did":"{}"' in send(server, f"POST /a HTTP/1.1\r\n{OWN}{BODY}")
    assert b'"did":""' in send(server, "GET /a HTTP/1.1\r\nhost: LocalHost:4200\r\n\r\n")
    own = f"Origin: http://LOCALHOST:{PORT}\r\n"
    assert b'"did":"{}"' in send(server, f"POST /a HTTP/1.1\r\n{OWN}{own}{BODY}")


@pytest.mark.parametrize(
    "head",
    ["", "Host: \r\n", "Host: localhost\r\nHost: evil.example\r\n",
     "Host: evil.example\r\nHost: localhost\r\n", "Host: localhost, evil.example\r\n",
     "Host: user@localhost\r\n", "Host: localhost@evil.example\r\n", "Host: localhost.\r\n",
     "Host: localhost:4200.evil.example\r\n", "Host: localhost:80:80\r\n",
     "Host: localhost/api/health?\r\n", "Host: localhost/\r\n", "Host: localhost#\r\n",
     "Host: localhost%00.evil.example\r\n", "Host: local%68ost\r\n", "Host: localhost\\x\r\n",
     "Host: 127.1\r\n", "Host: 2130706433\r\n", "Host: 0x7f000001\r\n", "Host: 0177.0.0.1\r\n",
     "Host: 0.0.0.0\r\n", "Host: ::1\r\n", "Host: [::1%25lo]\r\n", "Host: [0:0:0:0:0:0:0:1]\r\n",
     "Host: [::ffff:127.0.0.1]:4200\r\n", "Host: localh\xf6st\r\n",
     "X-Forwarded-Host: localhost\r\nHost: evil.example\r\n",
     "Forwarded: host=localhost\r\nHost: evil.example\r\n"],
)  # fmt: skip
def test_a_name_is_ours_to_the_letter(server: int, head: str) -> None:
    """A name that is not ours to the letter, or that comes twice, is refused."""
    for target in ("/a", "http://localhost/a"):
        answer = send(server, f"POST {target} HTTP/1.1\r\n{head}{BODY}")
        assert answer.split()[1] in (b"400", b"421"), answer
        assert b"did" not in answer


@pytest.mark.parametrize(
    "origin",
    ["null", "", "http://evil.example", f"http://localhost:{PORT}.evil.example",
     f"http://localhost:{PORT}/", f"http://user@localhost:{PORT}", "http://localhost",
     f"https://localhost:{PORT}", f"//localhost:{PORT}", f"localhost:{PORT}",
     f"http://localhost:{PORT}, http://evil.example",
     f"http://localhost:{PORT}\r\nOrigin: http://evil.example",
     f"http://evil.example\r\nOrigin: http://localhost:{PORT}", "moz-extension://x"],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_a_page_is_ours_to_the_letter(server: int, origin: str, method: str) -> None:
    """A page whose address is not ours to the letter is refused, whatever its method."""
    request = f"{method} /a HTTP/1.1\r\n{OWN}Origin: {origin}\r\n{BODY}"
    assert send(server, request).split()[1] == b"403"


@pytest.mark.parametrize(
    "body",
    ["Content-Length: 2\r\n\r\n{}",
     "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}",
     "Content-Type: text/plain\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
     "Content-Type: application/json\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}",
     "Content-Type: application/json, text/plain\r\nContent-Length: 2\r\n\r\n{}",
     "Content-Type: text/plain; application/json\r\nContent-Length: 2\r\n\r\n{}",
     "Content-Length: 00\r\n\r\n", "Content-Length: +2\r\n\r\n{}", "Content-Length: 0x2\r\n\r\n{}",
     "Content-Length: 0\r\nContent-Length: 2\r\n\r\n{}",
     "Content-Length: 2\r\nContent-Length: 0\r\n\r\n{}", "Content-Length: 0, 2\r\n\r\n{}",
     "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
     "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
     "Transfer-Encoding: Chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
     "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
     "Transfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
     "Transfer-Encoding : chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_no_body_passes_by_how_it_is_announced(server: int, method: str, body: str) -> None:
    """No body gets through that is not JSON, whatever announces it and whatever the method."""
    answer = send(server, f"{method} /a HTTP/1.1\r\n{OWN}{body}")
    assert b'"did":"{' not in answer
    assert answer.split()[1] in (b"400", b"415"), answer


def test_no_other_protocol_is_spoken(server: int) -> None:
    """Neither HTTP/2 nor what comes after a refused request gets by the gate."""
    assert b"did" not in send(server, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    upgrade = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n\r\n"
    assert b"101" not in send(server, f"GET /a HTTP/1.1\r\n{OWN}{upgrade}").split(b"\r\n")[0]
    inner = f"POST /b HTTP/1.1\r\nHost: evil.example\r\n{BODY}"
    hidden = f"POST /a HTTP/1.1\r\n{OWN}Content-Length: {len(inner)}\r\n\r\n{inner}"
    assert b"did" not in send(server, hidden)


@pytest.mark.parametrize(
    "target",
    ["/log-in?next=//evil.example", "/log-in?x=<script>alert(1)</script>", "/log-in#x",
     "//evil.example/log-in", "/log-in/", "/LOG-IN"],
)  # fmt: skip
def test_the_log_in_page_repeats_and_follows_nothing(server: int, target: str) -> None:
    """The log-in page repeats nothing of its address, and leads to our own pages alone."""
    answer = send(server, f"GET {target} HTTP/1.1\r\n{OWN}\r\n")
    assert b"location:" not in answer.lower().split(b"\r\n\r\n")[0]
    if b"<script>" in answer:
        assert b"alert" not in answer
        assert answer.count(b"location.replace(") == answer.count(b'location.replace("/")') == 1


def test_a_page_of_a_server_loads_from_it_alone() -> None:
    """Pages of the Prefect server load from it alone, and stand in no page of another site."""
    policy = dict(
        part.strip().split(" ", 1) for part in content_security_policy("http://a").split(";")
    )
    assert "*" not in " ".join(policy.values())
    assert policy["frame-ancestors"] == "'self'"
    assert policy["object-src"] == "'none'"
    assert {"'self'", "http://a", "ws://a"} <= set(policy["default-src"].split())


@pytest.mark.parametrize("names", ["localhost evil.example", "evil.example localhost", ""])
def test_a_request_has_one_name(names: str) -> None:
    """A request with two names is refused, whichever comes first, also if the server lets it by."""
    gate = Gate(lambda *_: None, own_names(PORT))  # type: ignore[arg-type]
    refused = gate.check(Headers(raw=[(b"host", name.encode()) for name in names.split()]))
    assert refused
    assert refused.status == 421


@pytest.mark.parametrize("names", [own_names(PORT), serving_names("127.0.0.1", ["evil.example"])])
def test_a_server_of_this_machine_alone_has_no_other_address(names: OwnNames) -> None:
    """A server that is bound to the loopback answers to no address but that."""
    gate = Gate(lambda *_: None, names)  # type: ignore[arg-type]
    for host in ("10.0.0.7", "[fd00::7]", "127.0.0.2", socket.gethostname()):
        refused = gate.check(Headers({"host": host}))
        assert refused
        assert refused.status == 421
