"""Politeness, and that nobody waits for another's host."""

import asyncio
import threading
from pathlib import Path
from time import monotonic

import pytest

from tasks.warehouse.contents import PageStore
from tasks.web.errors import HostsBusy
from tasks.web.fetcher import open_fetcher
from tasks.web.page import FetchResult, PageRequest
from tests.servers.web_pages import CUT, Asked, Site, Steps, answer, serving_pages
from tests.tasks.web.fetched import fetch, loopback, web_settings


def urls_of(site: Site, host: str, count: int) -> list[str]:
    return [f"http://{host}.example.org:{site.port}/{number}" for number in range(count)]


def places(urls: list[str]) -> set[str]:
    return {url.split("/")[2] for url in urls}


def test_no_more_requests_are_under_way_than_may_be() -> None:
    most: dict[str, int] = {}
    now: dict[str, int] = {}

    def handler(asked: Asked) -> Steps:
        host = asked.headers["host"]
        now[host] = now.get(host, 0) + 1
        most[host] = max(most.get(host, 0), now[host])
        yield 0.05
        now[host] -= 1
        yield answer(b"page")

    with serving_pages(handler) as site:
        urls = [url for name in "abcd" for url in urls_of(site, name, 6)]
        settings = web_settings(places(urls), manners={"at_once": 5, "per_host": 2})
        outcome = fetch(urls, settings)
        assert {fetched.outcome for fetched in outcome.fetched.values()} == {"fetched"}
        assert max(most.values()) == 2
        assert site.most_at_once == 5


def test_a_host_that_others_redirect_to_is_not_crowded() -> None:
    now = most = 0

    def handler(asked: Asked) -> Steps:
        nonlocal now, most
        if asked.headers["host"].startswith("way"):
            yield answer(b"", 302, location=f"http://crowded.example.org:{site.port}{asked.path}")
            return
        now += 1
        most = max(most, now)
        yield 0.1
        now -= 1
        yield answer(b"page")

    with serving_pages(handler) as site:
        urls = [urls_of(site, f"way-{number}", 1)[0] for number in range(8)]
        hosts = places(urls) | {f"crowded.example.org:{site.port}"}
        outcome = fetch(urls, web_settings(hosts, manners={"per_host": 2}))
        assert {fetched.outcome for fetched in outcome.fetched.values()} == {"fetched"}
        assert most == 2


def test_requests_to_one_host_begin_apart_also_those_of_redirects_to_it() -> None:
    began: list[float] = []

    def handler(asked: Asked) -> Steps:
        if asked.headers["host"].startswith("crowded"):
            began.append(monotonic())
            return [answer(b"page")]
        return [answer(b"", 302, location=f"http://crowded.example.org:{site.port}{asked.path}")]

    with serving_pages(handler) as site:
        urls = urls_of(site, "crowded", 3) + [urls_of(site, f"way-{n}", 1)[0] for n in range(3)]
        fetch(urls, web_settings(places(urls), manners={"seconds_between": 0.1, "at_once": 20}))
        assert len(began) == 6
        # All together: how long one of them takes to get here is for the machine to say.
        assert began[-1] - began[0] > 0.35


def test_pages_that_wait_for_their_host_leave_the_places_to_others() -> None:
    ended: list[str] = []

    def handler(asked: Asked) -> Steps:
        yield answer(b"page")
        ended.append(asked.headers["host"].partition(".")[0])

    with serving_pages(handler) as site:
        # Three seconds: a busy machine may take one for the ten.
        urls = urls_of(site, "slow", 2)
        urls += [url for number in range(10) for url in urls_of(site, f"quick{number}", 1)]
        settings = web_settings(
            places(urls), manners={"at_once": 1, "per_host": 1, "seconds_between": 3}
        )
        fetch(urls, settings)
        assert "slow" not in ended[1:11]
        assert ended[11:] == ["slow"]


def test_a_host_that_asks_for_peace_is_left_alone_by_all_its_pages() -> None:
    began: list[float] = []

    def handler(asked: Asked) -> Steps:
        began.append(monotonic())
        return [answer(b"busy", 503, retry_after="1") if len(began) == 1 else answer(b"page")]

    with serving_pages(handler) as site:
        urls = urls_of(site, "busy", 4)
        manners = {"per_host": 2, "seconds_between": 0.3, "tries": 3}
        outcome = fetch(urls, web_settings(places(urls), manners=manners))
        assert {fetched.http_status for fetched in outcome.fetched.values()} == {200}
        assert len(began) == 5
        assert began[1] - began[0] >= 0.99


def test_a_host_that_asks_for_more_than_we_wait_is_left_alone_and_its_pages_stay_open() -> None:
    def handler(asked: Asked) -> Steps:
        limited = asked.headers["host"].startswith("limited")
        return [answer(b"no", 429, retry_after="3600") if limited else answer(b"page")]

    with serving_pages(handler) as site:
        urls, others = urls_of(site, "limited", 5), urls_of(site, "other", 5)
        outcome = fetch(urls + others, web_settings(places(urls + others), manners={"per_host": 1}))
        first = outcome.fetched[urls[0]]
        assert (first.outcome, first.http_status) == ("fetched", 429)
        assert set(outcome.fetched) == {urls[0], *others}
        assert isinstance(outcome.error, HostsBusy)
        assert "4 pages were not fetched" in str(outcome.error)
        assert "asks to wait 3,600 s (HTTP 429)" in str(outcome.error)
        assert len(site.asked) == 6


def test_a_page_whose_other_spelling_is_on_a_host_that_answers_comes_from_there() -> None:
    def handler(asked: Asked) -> Steps:
        limited = asked.headers["host"].startswith("limited")
        return [answer(b"no", 429, retry_after="3600") if limited else answer(b"page")]

    with serving_pages(handler) as site:
        [first], (one, two) = urls_of(site, "limited", 1), urls_of(site, "other", 2)
        both = PageRequest(url=f"{first}x", addresses=(f"{first}x", one))
        outcome = fetch(
            [first, both, two], web_settings(places([first, one]), manners={"per_host": 1})
        )
        assert outcome.error is None
        assert outcome.content(both.url) == b"page"


def test_a_host_that_is_silent_for_three_pages_is_not_asked_for_the_rest() -> None:
    def handler(asked: Asked) -> Steps:
        return [CUT] if asked.headers["host"].startswith("dead") else [answer(b"page")]

    with serving_pages(handler) as site:
        dead, alive = urls_of(site, "dead", 20), urls_of(site, "alive", 20)
        outcome = fetch(dead + alive, web_settings(places(dead + alive), manners={"per_host": 1}))
        assert all(outcome.fetched[url].outcome == "fetched" for url in alive)
        tries = [outcome.fetched[url].tries for url in dead]
        assert tries == [2, 2, 2] + [0] * 17
        assert "3 other pages of its host in a row" in (outcome.fetched[dead[3]].error or "")
        assert all(outcome.fetched[url].outcome == "failed" for url in dead)


def test_a_host_that_answers_now_and_then_is_asked_to_the_end() -> None:
    def handler(asked: Asked) -> Steps:
        return [answer(b"page")] if int(asked.path[1:]) % 3 == 2 else [CUT]

    with serving_pages(handler) as site:
        urls = urls_of(site, "moody", 12)
        outcome = fetch(urls, web_settings(places(urls), manners={"per_host": 1}))
        assert [outcome.fetched[url].outcome == "fetched" for url in urls] == [
            number % 3 == 2 for number in range(12)
        ]


@pytest.mark.parametrize("large", [False, True], ids=["small pages", "large pages"])
def test_a_run_that_is_cancelled_leaves_whole_pages_only(tmp_path: Path, large: bool) -> None:
    body = bytes(range(256)) * (4000 if large else 1)
    running = threading.Event()

    def handler(asked: Asked) -> Steps:
        whole = answer(body)
        yield whole[:-5]
        running.set()
        yield 0.2 if int(asked.path[1:]) % 2 else 5.0
        yield whole[-5:]

    async def run(site: Site, settings_for: list[str]) -> list[FetchResult]:
        done: list[FetchResult] = []

        async def keep(wanted: PageRequest, fetched: FetchResult) -> None:
            done.append(fetched)

        bounds = {"most_bytes": 2_000_000}
        settings = web_settings(places(settings_for), bounds=bounds, manners={"per_host": 8})
        pages = [PageRequest(url=url, addresses=(url,)) for url in settings_for]
        async with open_fetcher(settings, PageStore(tmp_path), "direct", loopback) as fetcher:
            work = asyncio.create_task(fetcher.fetch_all(pages, keep))
            await asyncio.to_thread(running.wait)
            await asyncio.sleep(0.6)
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work
        return done

    with serving_pages(handler) as site:
        done = asyncio.run(run(site, urls_of(site, "cancelled", 8)))
    assert {fetched.outcome for fetched in done} <= {"fetched"}
    store = PageStore(tmp_path)
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.name for path in left} <= {f"{fetched.sha}.gz" for fetched in done}
    assert all(fetched.sha and store.get(fetched.sha) == body for fetched in done)


def test_what_the_caller_raises_ends_the_run(tmp_path: Path) -> None:
    class Full(Exception):
        pass

    calls: list[str] = []

    async def refuse(wanted: PageRequest, fetched: FetchResult) -> None:
        calls.append(wanted.url)
        if len(calls) == 1:
            raise Full

    async def run(site: Site, urls: list[str]) -> None:
        settings = web_settings(places(urls), manners={"at_once": 2})
        async with open_fetcher(settings, PageStore(tmp_path), "direct", loopback) as fetcher:
            await fetcher.fetch_all(
                [PageRequest(url=url, addresses=(url,)) for url in urls], refuse
            )

    with serving_pages(lambda asked: [0.05, answer(b"page")]) as site:
        urls = urls_of(site, "any", 40)
        with pytest.raises(Full):
            asyncio.run(run(site, urls))
        assert len(site.asked) < 10
