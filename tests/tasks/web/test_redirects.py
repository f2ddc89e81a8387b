"""Where redirects lead, over real sockets: each hop is an address like the first."""

import asyncio

import pytest

from tasks.web.connections import GuardedClient
from tasks.web.hosts import HostThrottle
from tasks.web.page import FetchResult, PageRequest
from tasks.web.readers import PageReaders
from tasks.web.redirects import RedirectFollower
from tests.servers.web_pages import CUT, KEEP, Asked, Site, Steps, answer, serving_pages
from tests.tasks.web.fetched import fetch, fetch_beside_an_answer, loopback, web_settings
from tests.tasks.web.hostile import HOSTILE

CARRIED = [(url, why) for url, why in HOSTILE if url.isprintable() and " " not in url]
"""Those that a header can hold. A tab or a space in one would be cut or encoded first."""


def test_no_hostile_address_is_asked_by_way_of_a_redirect() -> None:
    def handler(asked: Asked) -> Steps:
        url = CARRIED[int(asked.path[1:])][0]
        head = f"HTTP/1.1 302 Found\r\nlocation: {url}\r\ncontent-length: 0\r\n\r\n"
        return [head.encode("utf-8"), KEEP]

    with serving_pages(handler) as site:
        urls = [site.url(f"/{number}") for number in range(len(CARRIED))]
        outcome = fetch(urls, web_settings([site.place]))
        assert len(site.asked) == len(CARRIED) >= 60
        for url, (_, why) in zip(urls, CARRIED, strict=True):
            fetched = outcome.fetched[url]
            assert (fetched.outcome, fetched.http_status, fetched.tries) == ("refused", 302, 1), why
            assert len(fetched.redirects) == 1
            assert f"{url} redirects to " in (fetched.error or ""), why


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed_and_written_down(status: int) -> None:
    def handler(asked: Asked) -> Steps:
        if asked.path == "/a/old":
            return [answer(b"moved", status, location="../b/new?x=1#part")]
        return [answer(b"here", content_type="text/plain")]

    with serving_pages(handler) as site:
        outcome = fetch([site.url("/a/old")], web_settings([site.place]))
        fetched = outcome.fetched[site.url("/a/old")]
        assert fetched.final_url == site.url("/b/new?x=1")
        assert [(hop.status, hop.url) for hop in fetched.redirects] == [
            (status, site.url("/b/new?x=1"))
        ]
        assert fetched.headers["content-type"] == "text/plain"
        assert outcome.content(site.url("/a/old")) == b"here"


@pytest.mark.parametrize(
    ("location", "asked_for"),
    [
        (b"/plain", "/plain"),
        (b"//{place}/slashes", "/slashes"),
        (b"http://{place}/whole", "/whole"),
        (b"HTTP://user:secret@{place}/credentials", "/credentials"),
        (b"?q=1", "/?q=1"),
        ("/Zürich".encode(), "/Z%C3%BCrich"),
        ("/Zürich".encode("latin-1"), "/Z%C3%BCrich"),
        (b"/with space", "/with%20space"),
        (b"  /trimmed\t ", "/trimmed"),
        (b"/%7Ekept%2F", "/%7Ekept%2F"),
    ],
)
def test_a_redirect_may_be_written_in_many_ways(location: bytes, asked_for: str) -> None:
    def handler(asked: Asked) -> Steps:
        if asked.target == "/":
            where = location.replace(b"{place}", asked.headers["host"].encode())
            return [b"HTTP/1.1 302 Found\r\nlocation: " + where + b"\r\n\r\n"]
        return [answer(b"here")]

    with serving_pages(handler) as site:
        fetched = fetch([site.url()], web_settings([site.place])).fetched[site.url()]
        assert fetched.outcome == "fetched"
        assert site.targets() == ["/", asked_for]


def test_a_header_cannot_be_smuggled_into_the_next_request() -> None:
    def handler(asked: Asked) -> Steps:
        if asked.path == "/":
            return [b"HTTP/1.1 302 Found\r\nlocation: /next\rx-evil: 1\r\n\r\n"]
        return [answer(b"here")]

    with serving_pages(handler) as site:
        fetched = fetch_beside_an_answer([site.url()], web_settings([site.place])).fetched[
            site.url()
        ]
        assert fetched.outcome in ("failed", "refused")
        assert all("x-evil" not in asked.headers for asked in site.asked)


def test_a_circle_is_left_at_once_and_too_many_redirects_after_the_last() -> None:
    def handler(asked: Asked) -> Steps:
        if asked.path == "/circle":
            return [
                answer(b"", 302, location="/circle?2" if asked.target == "/circle" else "/circle")
            ]
        return [answer(b"", 302, location=f"/{int(asked.path[1:]) + 1}")]

    with serving_pages(handler) as site:
        circle, far = site.url("/circle"), site.url("/0")
        fetched = fetch([circle, far], web_settings([site.place])).fetched
        assert (fetched[circle].outcome, len(fetched[circle].redirects)) == ("failed", 2)
        assert "circle" in (fetched[circle].error or "")
        assert (fetched[far].outcome, len(fetched[far].redirects)) == ("failed", 5)
        assert "more than 4 redirects" in (fetched[far].error or "")
        assert len(site.asked) == 2 + 5


def test_cookies_live_within_one_chain_of_redirects() -> None:
    def handler(asked: Asked) -> Steps:
        if asked.headers.get("cookie") == "seen=yes":
            return [answer(b"the page"), KEEP]
        return [answer(b"", 302, location=asked.target, set_cookie="seen=yes; Path=/"), KEEP]

    with serving_pages(handler) as site:
        first, second = site.url("/1"), site.url("/2")
        settings = web_settings([site.place], manners={"at_once": 1, "per_host": 1})
        outcome = fetch([first, second], settings)
        assert outcome.content(first) == outcome.content(second) == b"the page"
        assert [asked.headers.get("cookie") for asked in site.asked] == [None, "seen=yes"] * 2


def test_cookies_do_not_follow_to_another_host() -> None:
    def handler(asked: Asked) -> Steps:
        if asked.path == "/first":
            there = f"http://other.example.com:{site.port}/second"
            return [answer(b"", 302, location=there, set_cookie="secret=1")]
        return [answer(b"here")]

    with serving_pages(handler) as site:
        first, other = f"first.example.org:{site.port}", f"other.example.com:{site.port}"
        fetch([f"http://{first}/first"], web_settings([first, other]))
        assert [asked.headers.get("cookie") for asked in site.asked] == [None, None]


def test_another_spelling_is_asked_where_the_first_is_no_page() -> None:
    def handler(asked: Asked) -> Steps:
        return [answer(b"here") if asked.path == "/right" else answer(b"nothing here", 404)]

    with serving_pages(handler) as site:

        def wanted(key: str, *paths: str) -> PageRequest:
            return PageRequest(url=site.url(key), addresses=tuple(site.url(path) for path in paths))

        pages = [
            wanted("/a", "/wrong", "/right"),
            wanted("/b", "/wrong", "/wronger"),
            PageRequest(url=site.url("/c"), addresses=("http://10.0.0.1/", site.url("/right"))),
            wanted("/d", "/1", "/2", "/3", "/right"),
            wanted("/e", "/right", "/wrong"),
        ]  # fmt: skip
        settings = web_settings([site.place], manners={"at_once": 1, "per_host": 1})
        found = fetch(pages, settings).fetched
        assert [found[page.url].asked_url.rpartition("/")[2] for page in pages] == [
            "right", "wronger", "right", "3", "right",
        ]  # fmt: skip
        assert [found[page.url].http_status for page in pages] == [200, 404, 200, 404, 200]
        assert [found[page.url].tries for page in pages] == [2, 2, 1, 3, 1]


def test_tries_are_counted_over_all_spellings_but_each_has_one() -> None:
    with serving_pages(lambda asked: [CUT]) as site:
        key, *others = (site.url(path) for path in ("/b", "/c", "/d", "/e"))
        page = PageRequest(url=key, addresses=(key, *others))
        settings = web_settings([site.place], manners={"tries": 2})
        fetched = fetch_beside_an_answer([page], settings).fetched[key]
        assert (fetched.outcome, fetched.asked_url, fetched.tries) == ("failed", key, 4)
        assert site.targets() == ["/b", "/b", "/c", "/d"]


def test_headers_of_our_own_go_to_the_first_address_only() -> None:
    def handler(asked: Asked) -> Steps:
        return [answer(b"", 302, location="/2") if asked.path == "/1" else answer(b"here")]

    async def visit(site: Site) -> None:
        settings = web_settings([site.place])
        async with (
            GuardedClient(settings, loopback) as client,
            PageReaders(settings.reading) as readers,
        ):
            throttle = HostThrottle(1, 1, 0)
            follower = RedirectFollower(client, throttle, settings.bounds, readers.read)
            record = FetchResult(source="direct", asked_url=site.url("/1"))
            async with follower.open(record, headers={"Authorization": "Bearer key"}) as answer:
                assert await answer.text() == "here"

    with serving_pages(handler) as site:
        asyncio.run(visit(site))
        assert [asked.headers.get("authorization") for asked in site.asked] == ["Bearer key", None]
