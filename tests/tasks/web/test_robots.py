import pytest

from tasks.web.errors import HostsBusy
from tasks.web.page import PageRequest
from tests.servers.web_pages import CUT, KEEP, Asked, Steps, answer, serving_pages
from tests.tasks.web.fetched import fetch, fetch_beside_an_answer, web_settings

RULES = b"User-agent: *\nDisallow: /private\n\nUser-agent: EvergreenBench\nDisallow: /bench\n"


def test_what_robots_txt_forbids_us_is_not_asked_for_and_it_is_read_once() -> None:
    def handler(asked: Asked) -> Steps:
        if asked.path == "/robots.txt":
            return [answer(RULES)]
        if asked.path == "/moved":
            return [answer(b"", 302, location="/bench/moved")]
        return [answer(b"page"), KEEP]

    with serving_pages(handler) as site:
        paths = ["/", "/private", "/bench", "/bench/deep", "/moved"]
        urls = [site.url(path) for path in paths]
        fetched = fetch(urls, web_settings([site.place], manners={"robots": "obey"})).fetched
        assert [fetched[url].outcome for url in urls] == [
            "fetched", "fetched", "robots", "robots", "robots",
        ]  # fmt: skip
        assert fetched[urls[2]].error == f"{site.url('/robots.txt')} forbids /bench"
        assert fetched[urls[4]].http_status == 302
        assert site.targets().count("/robots.txt") == 1
        assert not any(target.startswith("/bench") for target in site.targets())


@pytest.mark.parametrize(
    ("robots", "outcome"),
    [
        ([answer(b"none", 404)], "fetched"),
        ([answer(b"no", 403)], "fetched"),
        ([answer(b"")], "fetched"),
        ([answer(b"\xff\x00<html>not a robots.txt" * 99)], "fetched"),
        ([answer(b"later", 503)], "robots"),
        ([answer(b"", 302, location="/robots.txt")], "robots"),
        ([CUT], "failed"),
        ([answer(b"\x1f\x8b no gzip", content_encoding="gzip")], "robots"),
        ([0.3], "failed"),
        ([answer(b"#" * 600_000)], "robots"),
    ],
)
def test_a_robots_txt_that_is_not_there_allows_all_and_one_that_is_answered_badly_forbids_all(
    robots: Steps, outcome: str
) -> None:
    def handler(asked: Asked) -> Steps:
        return robots if asked.path == "/robots.txt" else [answer(b"page")]

    with serving_pages(handler) as site:
        settings = web_settings([site.place], manners={"robots": "obey"})
        fetched = fetch_beside_an_answer([site.url("/a")], settings).fetched[site.url("/a")]
        assert fetched.outcome == outcome
        assert ("/a" in site.targets()) == (outcome == "fetched")


@pytest.mark.parametrize(
    "first",
    [answer(b"", 503), answer(b"\x1f\x8b no gzip", content_encoding="gzip")],
    ids=["503", "gzip"],
)
def test_a_robots_txt_that_fails_once_is_asked_for_again(first: bytes) -> None:
    def handler(asked: Asked) -> Steps:
        if asked.path != "/robots.txt":
            return [answer(b"page")]
        return [first if site.targets().count("/robots.txt") == 1 else answer(RULES)]

    with serving_pages(handler) as site:
        urls = [site.url("/a"), site.url("/private"), site.url("/bench")]
        fetched = fetch(urls, web_settings([site.place], manners={"robots": "obey"})).fetched
        assert [fetched[url].outcome for url in urls] == ["fetched", "fetched", "robots"]
        assert site.targets().count("/robots.txt") == 2


def test_a_robots_txt_of_a_host_that_wants_to_be_asked_later_forbids_nothing() -> None:
    def limited(asked: Asked) -> Steps:
        later = answer(b"", 429, retry_after="3600")
        return [answer(b"") if asked.path == "/robots.txt" else later]

    with serving_pages(limited) as first, serving_pages(lambda asked: [answer(b"")]) as second:
        places = [f"same.example.org:{site.port}" for site in (first, second)]
        urls = [f"http://{place}/" for place in places]
        settings = web_settings(places, manners={"robots": "obey", "per_host": 1})
        outcome = fetch(urls, settings)
        assert set(outcome.fetched) == {urls[0]}
        assert isinstance(outcome.error, HostsBusy)
        assert second.asked == []


def test_a_host_that_cannot_be_reached_is_said_to_be_so_not_to_forbid() -> None:
    with serving_pages(lambda asked: []) as site:
        place = site.place
    settings = web_settings([place], manners={"robots": "obey"})
    fetched = fetch_beside_an_answer([f"http://{place}/"], settings).fetched[f"http://{place}/"]
    assert (fetched.outcome, fetched.tries) == ("failed", 0)
    assert "cannot be reached" in (fetched.error or "")


def test_robots_txt_is_left_alone_unless_it_is_to_be_obeyed() -> None:
    with serving_pages(lambda asked: [answer(b"page")]) as site:
        fetch([site.url("/a")], web_settings([site.place]))
        assert site.targets() == ["/a"]


def test_a_page_at_its_last_look_is_asked_for_once_however_busy_its_host_is() -> None:
    with serving_pages(lambda asked: [answer(b"no", 429, retry_after="86400"), KEEP]) as site:
        urls = [site.url(f"/{number}") for number in range(5)]
        last = [PageRequest(url=u, addresses=(u, f"{u}/"), is_last_look=u != urls[2]) for u in urls]
        outcome = fetch(last, web_settings([site.place], manners={"per_host": 1}))
        assert site.targets() == [f"/{number}" for number in (0, 1, 3, 4)]
    assert {fetched.http_status for fetched in outcome.fetched.values()} == {429}
    assert isinstance(outcome.error, HostsBusy)
    assert "1 pages were not fetched" in str(outcome.error)


def test_a_crawl_delay_however_long_keeps_nobody_waiting() -> None:
    rules = b"User-agent: *\nCrawl-delay: 999999999\nDisallow: /private\n"
    with serving_pages(lambda asked: [answer(rules)]) as site:
        fetched = fetch([site.url("/a")], web_settings([site.place], manners={"robots": "obey"}))
        assert fetched.fetched[site.url("/a")].outcome == "fetched"
