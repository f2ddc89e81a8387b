"""Jina Reader and the Wayback Machine, as servers of this test play them."""

import gzip
import json
from collections.abc import Callable, Sequence
from datetime import date
from time import monotonic
from urllib.parse import parse_qs, urlsplit

import pytest

from tasks.configuration.web import JinaReader, WaybackMachine, WebSettings
from tasks.web.errors import ServiceUnusable
from tasks.web.page import PageRequest
from tests.servers.web_pages import CUT, Asked, Site, Steps, answer, serving_pages
from tests.tasks.web.fetched import Outcome, fetch, web_settings

CITED = "http://cited.example.org/a?b=c&d=%2F"
READ = json.dumps({"code": 200, "data": {"title": "T", "content": "# What was cited"}}).encode()
KEY = "jina-secret-0123456789"


Service = Callable[[Site], WebSettings]


def jina(site: Site) -> WebSettings:
    reader = JinaReader(
        url=site.url("/read/"), key_env="TEST_JINA_KEY", per_minute=100_000,
        per_minute_with_key=100_000,
    )  # fmt: skip
    return web_settings([site.place], jina=reader)


def wayback(site: Site, **manners: object) -> WebSettings:
    archive = WaybackMachine(url=site.url("/available"), per_minute=100_000)
    return web_settings([site.place], wayback=archive, manners=manners)


def ask(
    service: Service,
    handler: Callable[[Asked], Steps],
    pages: Sequence[PageRequest | str] = (CITED,),
) -> tuple[Outcome, Site]:
    """What comes of pages that a service is asked for, and what it was asked."""
    with serving_pages(handler) as site:
        return fetch(pages, service(site), source=service.__name__), site  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEST_JINA_KEY", raising=False)


def test_jina_is_asked_for_the_page_and_its_answer_is_kept_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEST_JINA_KEY", KEY)
    outcome, site = ask(jina, lambda asked: [answer(READ, content_type="application/json")])
    fetched = outcome.fetched[CITED]
    assert (fetched.source, fetched.outcome, fetched.tries) == ("jina", "fetched", 1)
    assert (fetched.asked_url, fetched.final_url) == (CITED, CITED)
    assert outcome.content(CITED) == READ
    assert KEY not in fetched.model_dump_json()
    [asked] = site.asked
    assert asked.target == f"/read/{CITED}"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.headers["accept"] == "application/json"


def test_without_a_key_none_is_sent() -> None:
    with serving_pages(lambda asked: [answer(READ)]) as site:
        assert fetch([CITED], jina(site), source="jina").fetched[CITED].outcome == "fetched"
        assert "authorization" not in site.asked[0].headers


def test_jina_is_not_sent_where_we_would_not_go() -> None:
    outcome, site = ask(jina, lambda asked: [answer(READ)], ["http://10.0.0.1/"])
    assert outcome.fetched["http://10.0.0.1/"].outcome == "refused"
    assert site.asked == []


def test_a_page_that_jina_cannot_read_is_a_failure_in_its_words() -> None:
    said = json.dumps({"code": 422, "message": f"no\nsuch page, key {KEY}"}).encode()
    outcome, _ = ask(jina, lambda asked: [answer(said, 422)])
    fetched = outcome.fetched[CITED]
    assert (fetched.outcome, fetched.http_status, fetched.sha) == ("failed", 422, None)
    assert "Jina Reader could not read the page (HTTP 422: no�such page" in (fetched.error or "")


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"[" * 100_000, b'{"message": 7}', b"\xff"])
def test_a_refusal_that_is_no_json_is_a_failure_too(body: bytes) -> None:
    outcome, _ = ask(jina, lambda asked: [answer(body, 422)])
    fetched = outcome.fetched[CITED]
    assert fetched.error == "Jina Reader could not read the page (HTTP 422)"


def test_a_key_that_a_redirect_or_an_echo_would_leak_stays_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEST_JINA_KEY", KEY)

    def handler(asked: Asked) -> Steps:
        if asked.target.endswith("echo"):
            return [answer(json.dumps({"message": f"bad key {KEY}"}).encode(), 400)]
        return [answer(b"", 302, location="/elsewhere")]

    with serving_pages(handler) as site:
        pages = ["http://cited.example.org/echo", "http://cited.example.org/redirect"]
        outcome = fetch(pages, jina(site), source="jina")
        assert {fetched.outcome for fetched in outcome.fetched.values()} == {"failed"}
        assert all(KEY not in fetched.model_dump_json() for fetched in outcome.fetched.values())
        assert "/elsewhere" not in site.targets()


@pytest.mark.parametrize(
    ("steps", "key", "said"),
    [
        ([answer(b"", 401)], KEY, "does not accept the key in TEST_JINA_KEY"),
        ([answer(b"", 401)], "", "asks for a key: set TEST_JINA_KEY"),
        ([answer(b"", 402)], KEY, "no quota left"),
        ([answer(b"", 429)], KEY, "asks to wait a while"),
        ([answer(b"", 429, retry_after="3600")], KEY, "asks to wait 3,600 s"),
    ],
)
def test_a_service_that_refuses_us_stops_the_run_and_blames_no_page(
    steps: Steps, key: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_JINA_KEY", key)
    outcome, _ = ask(jina, lambda asked: steps, [CITED, CITED + "2"])
    assert isinstance(outcome.error, ServiceUnusable)
    assert said in str(outcome.error)
    assert KEY not in str(outcome.error)
    assert outcome.fetched == {}


@pytest.mark.parametrize("service", [jina, wayback])
def test_a_service_that_cannot_be_reached_stops_the_run(service: Service) -> None:
    with serving_pages(lambda asked: []) as gone:
        pass
    outcome = fetch([CITED], service(gone), source=service.__name__)  # type: ignore[arg-type]
    assert isinstance(outcome.error, ServiceUnusable)
    assert "cannot be reached" in str(outcome.error)
    assert outcome.fetched == {}


def cited(hosts: int, pages: int = 1) -> list[str]:
    return [f"http://h{host}.example.org/{page}" for host in range(hosts) for page in range(pages)]


@pytest.mark.parametrize(
    ("service", "hosts", "pages"), [(jina, 5, 1), (wayback, 5, 1), (jina, 2, 5)]
)
def test_a_service_that_fails_for_every_page_stops_the_run_and_blames_none(
    service: Service, hosts: int, pages: int
) -> None:
    outcome, _ = ask(service, lambda asked: [answer(b"", 503)], cited(hosts, pages))
    assert isinstance(outcome.error, ServiceUnusable)
    assert f"failed for every page ({hosts} hosts tried; the last: " in str(outcome.error)
    assert outcome.fetched == {}


def test_a_service_that_has_the_page_that_everybody_has_is_not_out_of_order() -> None:
    def handler(asked: Asked) -> Steps:
        return [answer(READ) if asked.target.endswith("/example.com/") else answer(b"", 503)]

    outcome, site = ask(jina, handler, cited(7))
    assert outcome.error is None
    assert [f.outcome for f in outcome.fetched.values()] == ["failed"] * 7
    assert sum(asked.target.endswith("/example.com/") for asked in site.asked) == 1


def archive(closest: object, snapshot: Callable[[Asked], Steps]) -> Callable[[Asked], Steps]:
    def handler(asked: Asked) -> Steps:
        if asked.path == "/available":
            text = json.dumps({"archived_snapshots": closest})
            return [answer(text.replace("PLACE", asked.headers["host"]).encode())]
        return snapshot(asked)

    return handler


def found(place: str = "http://PLACE") -> dict[str, object]:
    return {"closest": {"available": True, "status": "200", "timestamp": "20240102030405",
                        "url": f"{place}/web/20240102030405/{CITED}"}}  # fmt: skip


def test_the_snapshot_nearest_to_the_report_is_kept_as_the_page_was() -> None:
    page = answer(b"as it was", content_type="text/html", memento_datetime="then")
    with serving_pages(archive(found(), lambda asked: [page])) as site:
        wanted = PageRequest(url=CITED, addresses=(CITED,), cited_on=date(2024, 1, 5))
        outcome = fetch([wanted], wayback(site), source="wayback")
        fetched = outcome.fetched[CITED]
        assert (fetched.source, fetched.outcome, fetched.asked_url) == ("wayback", "fetched", CITED)
        assert fetched.final_url == site.url(f"/web/20240102030405id_/{CITED}")
        assert fetched.headers["memento-datetime"] == "then"
        assert outcome.content(CITED) == b"as it was"
        query = parse_qs(urlsplit(site.asked[0].target).query)
        assert query == {"url": [CITED], "timestamp": ["20240105"]}


def test_where_nobody_knows_when_a_page_was_cited_no_time_is_asked_for() -> None:
    with serving_pages(archive({}, lambda asked: [])) as site:
        fetch([CITED], wayback(site), source="wayback")
        assert "timestamp" not in site.asked[0].target


@pytest.mark.parametrize(
    ("closest", "said"),
    [
        ({}, "has no snapshot of it"),
        ({"closest": None}, "has no snapshot of it"),
        ({"closest": {"available": False, "url": "http://PLACE/web/20240102030405/x"}},
         "has no snapshot of it"),
        ({"closest": {"available": True, "url": "http://PLACE/elsewhere"}}, "no address of a"),
        ({"closest": {"available": True, "url": "file:///web/20240102030405/x"}}, "no address of"),
        ({"closest": {"available": True, "url": 7}}, "not which snapshot there is"),
        ({"closest": "x"}, "not which snapshot there is"),
        (7, "not which snapshot there is"),
    ],
)  # fmt: skip
def test_a_page_without_a_snapshot_is_a_failure_that_says_so(closest: object, said: str) -> None:
    outcome, site = ask(wayback, archive(closest, lambda asked: [answer(b"never")]))
    fetched = outcome.fetched[CITED]
    assert (fetched.outcome, fetched.tries, fetched.http_status) == ("failed", 1, None)
    assert said in (fetched.error or "")
    assert len(site.asked) == 1


def test_a_snapshot_is_looked_for_in_the_archive_only() -> None:
    with serving_pages(archive(found("http://10.0.0.1"), lambda asked: [])) as site:
        assert fetch([CITED], wayback(site), source="wayback").fetched[CITED].outcome == "refused"
    out = [answer(b"", 302, location="http://today.example.org/")]
    outcome, _ = ask(wayback, archive(found(), lambda asked: out))
    fetched = outcome.fetched[CITED]
    assert fetched.outcome == "refused"
    assert "out of the archive, to today.example.org" in (fetched.error or "")


def test_an_archive_that_is_busy_is_asked_again() -> None:
    answers: list[Steps] = [[answer(b"busy", 503)], [CUT], [answer(b"as it was")]]
    with serving_pages(lambda asked: answers.pop(0)) as site:
        there = json.dumps({"archived_snapshots": found(site.url()[:-1])}).encode()
        answers.insert(1, [answer(there)])
        fetched = fetch([CITED], wayback(site), source="wayback").fetched[CITED]
        assert (fetched.outcome, fetched.tries) == ("fetched", 4)


NO_GZIP = answer(b"\x1f\x8b no gzip", content_encoding="gzip")
HALF_A_GZIP = answer(gzip.compress(READ)[:-20], content_encoding="gzip")


@pytest.mark.parametrize("garbled", [NO_GZIP, HALF_A_GZIP], ids=["no gzip", "half a gzip"])
def test_a_service_whose_answer_cannot_be_unpacked_is_asked_again(garbled: bytes) -> None:
    answers: list[Steps] = [[garbled], [answer(READ)]]
    outcome, _ = ask(jina, lambda asked: answers.pop(0))
    assert outcome.fetched[CITED].tries == 2
    assert outcome.content(CITED) == READ
    answers = [[garbled], [garbled], [answer(b"as it was")]]
    with serving_pages(lambda asked: answers.pop(0)) as site:
        there = json.dumps({"archived_snapshots": found(site.url()[:-1])}).encode()
        answers.insert(1, [answer(there)])
        outcome = fetch([CITED], wayback(site), source="wayback")
        assert outcome.fetched[CITED].tries == 4
        assert outcome.content(CITED) == b"as it was"


def test_a_snapshot_that_is_not_given_out_is_a_failure() -> None:
    outcome, _ = ask(wayback, archive(found(), lambda asked: [answer(b"no", 403)]))
    fetched = outcome.fetched[CITED]
    assert (fetched.outcome, fetched.http_status, fetched.sha) == ("failed", 403, None)


def test_a_service_that_says_how_long_to_wait_is_left_alone_so_long() -> None:
    began: list[float] = []

    def handler(asked: Asked) -> Steps:
        began.append(monotonic())
        return [answer(READ) if len(began) == 2 else answer(b"busy", 503, retry_after="1")]

    with serving_pages(handler) as site:
        assert fetch([CITED], jina(site), source="jina").fetched[CITED].outcome == "fetched"
        assert began[1] - began[0] >= 0.99
