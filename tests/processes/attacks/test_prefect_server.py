"""A web page in the operator's browser, and other users of the host, at a Prefect server of ours"""

import asyncio
import json
from base64 import b64encode
from collections.abc import Iterator

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from flows.runtime import shared_server
from flows.runtime.login import login_address, read_password
from flows.runtime.server import local_server
from flows.runtime.shared_server import find_problem, shared_names
from tasks.serving.gate import Gate, serving_names
from tests.conftest import PREFECT_HOME

REMOVE = "/deployments/bulk_delete"
"""What a reviewer removed all deployments with, as a web page."""


@pytest.fixture(scope="module")
def api() -> Iterator[str]:
    """The API of a real local server."""
    with local_server(PREFECT_HOME) as url:
        yield url


@pytest.fixture
def us() -> tuple[str, str]:
    user, _, password = read_password(PREFECT_HOME).partition(":")
    return user, password


def send(url: str, **given: object) -> httpx.Response:
    return httpx.post(url, timeout=30, trust_env=False, **given)  # type: ignore[arg-type]


def test_nothing_is_told_or_done_without_the_password(api: str) -> None:
    """A local Prefect server does nothing for anybody who does not know its password."""
    assert send(f"{api}{REMOVE}", json={"deployments": {}}).status_code == 401
    assert send(f"{api}{REMOVE}", json={}, auth=("evergreen", "guess")).status_code == 401
    assert httpx.get(f"{api}/admin/settings", timeout=30).status_code == 401
    assert httpx.get(f"{api}/variables/name/health", timeout=30).status_code == 401


JSON = {"Content-Type": "application/json"}
REFUSED = {
    "a foreign name": ({"Host": "evil.example:4200"} | JSON, 421),
    "a name that begins as ours": ({"Host": "127.0.0.1.evil.example"} | JSON, 421),
    "a page of another site": ({"Origin": "http://evil.example"} | JSON, 403),
    "a page without a site": ({"Origin": "null"} | JSON, 403),
    "a page of another port": ({"Origin": "http://127.0.0.1:1"} | JSON, 403),
    "no type": ({}, 415),
    "text": ({"Content-Type": "text/plain"}, 415),
    "a form": ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
}
"""What a page may send to a server of ours; many more are in tests/attacks/test_gate.py."""


@pytest.mark.parametrize("what", REFUSED)
def test_a_web_page_does_nothing_here(api: str, us: tuple[str, str], what: str) -> None:
    """A page that points its own name at this machine, a page of another site, and a body that
    is not declared JSON are refused, even from a browser that is logged in."""
    headers, status = REFUSED[what]
    address = f"{api}/deployments/filter"
    assert send(address, content=b"{}", headers=headers, auth=us).status_code == status
    own = {"Origin": api.removesuffix("/api")} | JSON
    assert send(address, content=b"{}", headers=own, auth=us).status_code == 200


@pytest.mark.parametrize("path", ["/events/out", "/events/in", "/logs/out"])
@pytest.mark.parametrize(
    ("host", "origin"), [("evil.example", None), (None, "http://evil.example"), (None, "null")]
)
def test_a_foreign_web_socket_is_refused(
    api: str, path: str, host: str | None, origin: str | None
) -> None:
    """WebSockets are held to the same names and pages, and to the same password."""
    at, _, port = api.removeprefix("http://").removesuffix("/api").partition(":")

    async def open_it(called: str, **given: object) -> None:
        url = f"ws://{called}:{port}/api{path}"
        place = {"host": at, "port": int(port)}
        async with connect(url, subprotocols=[Subprotocol("prefect")], **place, **given) as socket:  # type: ignore[arg-type]
            await socket.send(json.dumps({"type": "auth", "token": "guess"}))
            await socket.recv()

    with pytest.raises(InvalidStatus, match="403"):
        asyncio.run(open_it(host or at, origin=origin))
    with pytest.raises(ConnectionClosed):  # without a password, however well it is called
        asyncio.run(open_it(at))


def test_the_log_in_page_sends_the_password_to_nobody(api: str) -> None:
    """A browser is logged in by the part of an address that it does not send."""
    address = login_address(api.removesuffix("/api"), "evergreen:secret")
    assert address.endswith("/log-in#" + b64encode(b"evergreen:secret").decode())
    page = httpx.get(address, timeout=30)
    assert page.status_code == 200
    assert "secret" not in str(page.request.url.copy_with(fragment=None))
    assert "no-referrer" in page.text
    assert "http" not in page.text  # it loads nothing


def test_the_password_is_in_no_log(api: str) -> None:
    """The password stands in no log, and `evergreen ui` prints it to a terminal alone."""
    password = read_password(PREFECT_HOME).partition(":")[2]
    assert password not in (PREFECT_HOME / "server.log").read_text("utf-8", errors="replace")
    assert password not in (PREFECT_HOME / "server.json").read_text("utf-8")


@pytest.mark.parametrize("auth", ["", "evergreen", ":long-enough-password", "user:", "user:short"])
def test_a_shared_server_without_a_password_does_not_start(
    auth: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A server for several machines does not start without a password."""
    monkeypatch.setenv(shared_server.AUTH, auth)
    monkeypatch.setattr(shared_server, "serve", lambda *_: pytest.fail("it was started"))
    assert shared_server.main(["--port", "0"]) == 2
    assert "PREFECT_SERVER_API_AUTH_STRING" in capfd.readouterr().err


def test_a_shared_server_answers_to_its_own_names_alone() -> None:
    """A server for several machines answers to the names it was given, and no others."""
    names = shared_names("https://prefect.example.org", 4200, ["server"])
    assert "server" in names.hosts
    assert "prefect.example.org" in names.hosts
    assert not names.any_address
    assert names.origins is not None
    assert "https://prefect.example.org" in names.origins
    assert "http://server:4200" not in names.origins
    assert find_problem("user:a-long-password", "prefect.example.org") is not None


def test_a_sandbox_that_other_machines_reach_keeps_its_gate() -> None:
    """A sandbox bound to other addresses answers to names it was given and to addresses alone."""
    from starlette.datastructures import Headers

    gate = Gate(lambda *_: None, serving_names("0.0.0.0", ["sandbox"]))  # type: ignore[arg-type]

    def answer(host: str, **more: str) -> int:
        refused = gate.check(Headers({"host": host, **more}))
        return refused.status if refused else 200

    assert answer("evil.example:8100") == 421
    assert answer("sandbox:8100") == answer("10.0.0.7:8100") == answer("[fd00::7]:8100") == 200
    assert answer("10.0.0.7:8100", origin="http://6.6.6.6") == 403
