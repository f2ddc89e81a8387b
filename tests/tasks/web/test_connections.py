"""A connection leads to an address that was checked, or nowhere."""

import asyncio
import select
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread

import pytest

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.web import AllowedAddresses, WebSettings
from tasks.web.connections import GuardedClient, format_user_agent
from tasks.web.errors import NoNetwork, ProxyAuthRequired
from tasks.web.guard import CheckedUrl, Guard
from tasks.web.resolver import CheckedResolver
from tests.servers.certificates import make_certificate
from tests.servers.web_pages import Site, answer, serving_pages
from tests.tasks.web.fetched import LOOPBACK, fetch, fetch_beside_an_answer, web_settings

NOWHERE = "2ffe::1"
"""Public by its form, and given to nobody: a packet to it goes nowhere."""


class Rebinding:
    """A name server that changes its mind."""

    def __init__(self, *answers: list[str]) -> None:
        self._answers = [*answers]
        self.n_asked = 0

    async def __call__(self, host: str, port: int) -> list[str]:
        self.n_asked += 1
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


@pytest.fixture
def site() -> Iterator[Site]:
    with serving_pages(lambda asked: [answer(b"secret")]) as running:
        yield running


def test_a_name_that_leads_here_at_the_second_look_is_never_connected_to(site: Site) -> None:
    names = Rebinding([NOWHERE], [LOOPBACK])
    urls = [f"http://rebinding.example.org:{site.port}/{number}" for number in range(4)]
    settings = web_settings(
        allowed={"ports": (site.port,)}, bounds={"connect_seconds": 0.3}, manners={"per_host": 1}
    )
    outcome = fetch(urls, settings, lookup=names)
    assert {fetched.outcome for fetched in outcome.fetched.values()} <= {"failed", "refused"}
    assert site.n_connections == 0


def test_a_name_is_resolved_once_for_the_check_and_the_connection(site: Site) -> None:
    names = Rebinding([LOOPBACK], ["10.9.9.9"])
    place = f"once.example.org:{site.port}"
    outcome = fetch([f"http://{place}/"], web_settings([place]), lookup=names)
    assert outcome.fetched[f"http://{place}/"].outcome == "fetched"
    assert names.n_asked == 1


@pytest.mark.parametrize(
    "addresses",
    [[LOOPBACK], [NOWHERE, LOOPBACK], ["8.8.8.8", "::1"], ["::ffff:127.0.0.1"], ["fe80::1%lo"],
     ["64:ff9b::7f00:1"], ["169.254.169.254"], ["0.0.0.0"]],
)  # fmt: skip
def test_a_name_with_one_address_that_is_not_public_is_refused(
    addresses: list[str], site: Site
) -> None:
    url = f"http://inside.example.org:{site.port}/"
    settings = web_settings(allowed={"ports": (site.port,)})
    lookup = Rebinding(addresses)
    fetched = fetch_beside_an_answer([url], settings, lookup=lookup).fetched[url]
    assert (fetched.outcome, fetched.http_status) == ("refused", None)
    assert "inside.example.org is " in (fetched.error or "")
    assert site.n_connections == 0


def test_no_socket_is_made_for_an_address_that_may_not_be_asked(site: Site) -> None:
    resolver = CheckedResolver(Guard(AllowedAddresses(ports=(site.port,))), None, 1)
    for address, family in ((LOOPBACK, socket.AF_INET), ("::1", socket.AF_INET6),
                            ("10.0.0.1", socket.AF_INET)):  # fmt: skip
        with pytest.raises(PermissionError, match="may not be asked"):
            resolver.socket((family, socket.SOCK_STREAM, 0, "", (address, site.port)))
    with pytest.raises(PermissionError):
        resolver.socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("8.8.8.8", 22)))
    resolver.socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("8.8.8.8", site.port))).close()


@pytest.mark.parametrize("host", [LOOPBACK, "[::ffff:127.0.0.1]", "localhost"])
def test_a_literal_address_that_slipped_through_is_stopped_at_its_socket(
    host: str, site: Site
) -> None:
    async def ask() -> None:
        settings = web_settings(allowed={"ports": (site.port,)})
        async with GuardedClient(settings) as client:
            target = CheckedUrl(f"http://{host}:{site.port}/", "http", host.strip("[]"), site.port)
            async with client.get(target, {}):
                pass

    with pytest.raises(Exception, match=r"may not be asked|127\.0\.0\.1|::1"):
        asyncio.run(ask())
    assert site.n_connections == 0


def test_an_exception_for_one_name_opens_nothing_to_another(site: Site) -> None:
    friend, stranger = (f"{name}.example.org:{site.port}" for name in ("friend", "stranger"))
    urls = [f"http://{friend}/", f"http://{stranger}/", f"http://{LOOPBACK}:{site.port}/"]
    settings = web_settings([friend], allowed={"ports": (site.port,)})
    fetched = fetch(urls, settings, lookup=Rebinding([LOOPBACK])).fetched
    assert [fetched[url].outcome for url in urls] == ["fetched", "refused", "refused"]


def test_a_name_server_that_is_silent_costs_no_more_than_connecting_may() -> None:
    async def silent(host: str, port: int) -> list[str]:
        await asyncio.sleep(60)
        return []

    url = "http://silent.example.org/"
    settings = web_settings(bounds={"connect_seconds": 0.2})
    fetched = fetch_beside_an_answer([url], settings, lookup=silent).fetched[url]
    assert (fetched.outcome, fetched.tries) == ("failed", 2)
    assert "no answer from DNS within 0.2 s" in (fetched.error or "")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (socket.EAI_NONAME, "there is no host gone.example.org (DNS)"),
        (socket.EAI_NODATA, "gone.example.org could not be resolved (it has none)"),
    ],
)
def test_a_name_that_does_not_exist_or_has_no_address_is_not_tried_again(
    code: int, said: str
) -> None:
    async def nothing(host: str, port: int) -> list[str]:
        raise socket.gaierror(code, "it has none")

    url = "http://gone.example.org/"
    fetched = fetch_beside_an_answer([url], web_settings(), lookup=nothing).fetched[url]
    assert (fetched.outcome, fetched.tries) == ("failed", 1)
    assert fetched.error == said


def test_a_certificate_must_be_for_the_name_that_was_cited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = make_certificate(tmp_path, "DNS:right.example.org")
    with serving_pages(lambda asked: [answer(b"page")], context) as site:
        right, wrong = (f"{name}.example.org:{site.port}" for name in ("right", "wrong"))
        urls = [f"https://{right}/", f"https://{wrong}/"]
        unknown = fetch_beside_an_answer(urls[:1], web_settings([right])).fetched[urls[0]]
        assert (unknown.outcome, unknown.tries) == ("failed", 1)
        assert "no valid certificate" in (unknown.error or "")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
        fetched = fetch(urls, web_settings([right, wrong])).fetched
        assert fetched[urls[0]].outcome == "fetched"
        assert "wrong.example.org has no valid certificate" in (fetched[urls[1]].error or "")
        assert "Hostname mismatch" in (fetched[urls[1]].error or "")


def test_who_asks_is_said_and_nothing_else_of_us(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERGREEN_OPERATOR", "archive@example.org")
    fetch([site.url("/a?b=%2F")], web_settings([site.place]))
    [asked] = site.asked
    assert asked.target == "/a?b=%2F"
    assert asked.headers["host"] == site.place
    assert "(archive@example.org; cited-page archive)" in asked.headers["user-agent"]
    assert set(asked.headers) == {"host", "user-agent", "accept", "accept-language",
                                  "accept-encoding"}  # fmt: skip
    assert format_user_agent(None).endswith(" (cited-page archive)")


def test_proxies_of_the_environment_are_left_out_unless_they_are_asked_for(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving_pages(lambda asked: [answer(b"by proxy")]) as proxy:
        monkeypatch.setenv("http_proxy", f"http://user:secret@{proxy.place}")
        monkeypatch.delenv("no_proxy", raising=False)
        place = f"page.example.org:{site.port}"
        url, forbidden = f"http://{place}/", f"http://inside.example.org:{site.port}/"
        there, gone = f"http://{proxy.place}/", f"http://gone.example.org:{site.port}/"

        async def lookup(host: str, port: int) -> list[str]:
            if host == "gone.example.org":
                raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
            return [LOOPBACK]

        direct = fetch([url], web_settings([place]))
        assert direct.content(url) == b"secret"
        settings = web_settings(
            [place], allowed={"environment_proxies": True, "ports": (site.port, proxy.port)}
        )
        proxied = fetch([url, forbidden, there, gone], settings, lookup=lookup)
        assert proxied.content(url) == b"by proxy"
        assert [asked.target for asked in proxy.asked] == [url]
        assert proxied.fetched[forbidden].outcome == "refused"
        assert proxied.fetched[there].outcome == "refused"
        assert proxied.fetched[gone].outcome == "failed"


Proxied = Callable[..., WebSettings]


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> Proxied:
    """Sets the proxy of a scheme; gives settings that take it, for pages of a place."""

    def set_proxy(scheme: str, proxy: str, place: str = "page.example.org") -> WebSettings:
        monkeypatch.setenv(f"{scheme}_proxy", f"http://user:secret@{proxy}")
        monkeypatch.delenv("no_proxy", raising=False)
        return web_settings([place], allowed={"environment_proxies": True})

    return set_proxy


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    ("status", "meaning"),
    [(407, ProxyAuthRequired), (502, NoNetwork), (503, NoNetwork), (504, NoNetwork)],
)
def test_what_a_proxy_says_of_itself_is_no_page_and_stops_the_run(
    status: int, meaning: type[Exception], scheme: str, proxied: Proxied
) -> None:
    with serving_pages(lambda asked: [answer(b"Who are you?", status)]) as proxy:
        outcome = fetch([f"{scheme}://page.example.org/"], proxied(scheme, proxy.place))
    assert type(outcome.error) is meaning
    assert "secret" not in str(outcome.error)
    if meaning is NoNetwork:
        said = f"the proxy answered HTTP {status} for page.example.org"
        assert said in str(outcome.error)
    assert outcome.fetched == {}


class Tunnel(StreamRequestHandler):
    """An HTTP proxy that leads every CONNECT to the same port of this machine."""

    def handle(self) -> None:
        place = self.rfile.readline().split()[1]
        while self.rfile.readline().strip():
            pass
        with socket.create_connection((LOOPBACK, int(place.rpartition(b":")[2]))) as inside:
            self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            ends = {inside: self.connection, self.connection: inside}
            while True:
                for end in select.select(list(ends), [], [])[0]:
                    if not (data := end.recv(65536)):
                        return
                    ends[end].sendall(data)


def test_what_a_host_says_through_a_tunnel_is_its_own_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, proxied: Proxied
) -> None:
    context = make_certificate(tmp_path, "DNS:page.example.org")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    with (
        serving_pages(lambda asked: [answer(b"Out of order.", 503)], context) as site,
        ThreadingTCPServer((LOOPBACK, 0), Tunnel) as proxy,
    ):
        proxy.daemon_threads = True
        Thread(target=proxy.serve_forever, daemon=True).start()
        place = f"page.example.org:{site.port}"
        settings = proxied("https", f"{LOOPBACK}:{proxy.server_address[1]}", place)
        outcome = fetch([f"https://{place}/"], settings)
        proxy.shutdown()
    assert outcome.error is None
    [fetched] = outcome.fetched.values()
    assert (fetched.outcome, fetched.http_status) == ("fetched", 503)


def test_a_proxy_that_is_none_is_said_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("http_proxy", "socks5://user:secret@127.0.0.1:9")
    outcome = fetch(["http://example.org/"], web_settings(allowed={"environment_proxies": True}))
    assert isinstance(outcome.error, ConfigurationError)
    assert "secret" not in str(outcome.error)
