"""Servers that do what servers do: the run ends, every page has an outcome, nothing is left."""

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.servers.web_pages import CUT, KEEP, Asked, Site, Step, Steps, answer, serving_pages
from tests.tasks.web.fetched import Outcome, fetch, web_settings

BOMB = gzip.compress(b"\0" * 50_000_000)
BOMB_IN_BOMB = gzip.compress(BOMB)
PAGE = b"<html><p>What was cited.</p></html>"
PACKED = gzip.compress(bytes(range(256)) * 100)
LARGE = bytes(range(250)) * 40_000
"""10 MB."""


def endless(head: bytes, piece: bytes, pause: float = 0.0) -> Callable[[], Steps]:
    def steps() -> Iterator[bytes | float]:
        yield head
        while True:
            yield piece
            yield pause

    return steps


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n"

FAULTS: dict[str, tuple[Callable[[], Steps], str, int, str]] = {
    # name: what is sent, outcome, tries, what is said of it
    "reset": (lambda: [CUT], "failed", 2, "was cut"),
    "hang-up": (lambda: [], "failed", 2, "hung up without an answer"),
    "reset-mid-head": (lambda: [b"HTTP/1.1 200 O", CUT], "failed", 2, "was cut"),
    "reset-mid-body": (lambda: [answer(PAGE * 9)[:-30], CUT], "failed", 2, "broke off"),
    "stall": (lambda: [5.0], "failed", 2, "fell silent"),
    "stall-mid-body": (lambda: [answer(PAGE)[:-9], 5.0], "failed", 2, "fell silent"),
    "drip": (endless(OK + b"\r\n", b"a", 0.1), "failed", 2, "not done within 4 s"),
    "drip-of-head": (endless(OK, b"x: y\r\n", 0.1), "failed", 2, "not done within 4 s"),
    "endless-body": (endless(OK + b"\r\n", b"a" * 9999), "too_large", 1, "more than 300,000"),
    "endless-chunks": (endless(CHUNKED, b"4\r\nabcd\r\n" * 999), "too_large", 1, "300,000"),
    "endless-head": (endless(OK, b"x: " + b"a" * 999 + b"\r\n"), "failed", 2, "no HTTP"),
    "endless-hints": (endless(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", 0.05), "failed", 2,
                      "not done within"),
    "cut-chunk": (lambda: [CHUNKED + b"ff\r\nabc"], "failed", 2, "broke off"),
    "no-last-chunk": (lambda: [CHUNKED + b"3\r\nabc\r\n"], "failed", 2, "broke off"),
    "false-chunk": (lambda: [CHUNKED + b"xyz\r\nabc\r\n"], "failed", 2, ""),
    "too-few-bytes": (lambda: [OK + b"content-length: 99\r\n\r\nabc"], "failed", 2, "broke off"),
    "more-bytes": (lambda: [OK + b"content-length: 3\r\n\r\nabcdef"], "failed", 2, "no HTTP"),
    "two-lengths": (lambda: [OK + b"content-length: 3\r\ncontent-length: 6\r\n\r\nabcdef"],
                    "failed", 2, "no HTTP"),
    "negative-length": (lambda: [OK + b"content-length: -3\r\n\r\nabc"], "failed", 2, "no HTTP"),
    "long-length": (lambda: [OK + b"content-length: 9999999999\r\n\r\nabc"], "too_large", 1,
                    "9,999,999,999 bytes"),
    "longest-length": (lambda: [OK + b"content-length: " + b"9" * 400 + b"\r\n\r\nabc"],
                       "failed", 2, ""),
    "bomb": (lambda: [answer(BOMB, content_encoding="gzip")],
             "too_large", 1, "more than 300,000"),
    "bomb-in-bomb": (lambda: [answer(BOMB_IN_BOMB, content_encoding="gzip, gzip")],
                     "too_large", 1, "more than 300,000"),
    "cut-gzip": (lambda: [answer(PACKED[:-30], content_encoding="gzip")], "failed", 2, "broke off"),
    "no-gzip": (lambda: [answer(b"\x1f\x8b" + PAGE, content_encoding="gzip")], "failed", 2,
                "unpacked"),
    "no-brotli": (lambda: [answer(b"\x00\x01\x02" * 99, content_encoding="br")], "failed", 2,
                  "unpacked"),
    "unpacked": (lambda: [answer(PAGE, content_encoding="br")], "fetched", 1, ""),
    "packed-on-and-on": (lambda: [answer(PAGE, content_encoding="gzip, " * 999)], "fetched", 1, ""),
    "garbage": (lambda: [b"\x00\xff\x01" * 99 + b"\r\n\r\n"], "failed", 2, "no HTTP"),
    "ssh": (lambda: [b"SSH-2.0-OpenSSH_9.2\r\n"], "failed", 2, "no HTTP"),
    "http-0.9": (lambda: [PAGE], "failed", 2, "no HTTP"),
    "long-header": (lambda: [answer(PAGE, x="a" * 70_000)], "failed", 2, "no HTTP"),
    "switching": (lambda: [b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"], "failed", 1, "101"),
    "large": (lambda: [answer(LARGE)], "too_large", 1, "10,000,000 bytes; at most 300,000"),
    # What is odd, and whole
    "empty": (lambda: [answer()], "fetched", 1, ""),
    "no-content": (lambda: [b"HTTP/1.1 204 No\r\n\r\n"], "fetched", 1, ""),
    "until-closed": (lambda: [OK + b"\r\n" + PAGE], "fetched", 1, ""),
    "old": (lambda: [b"HTTP/1.0 200 OK\r\n\r\n" + PAGE], "fetched", 1, ""),
    "forbidden": (lambda: [answer(PAGE, 403)], "fetched", 1, ""),
    "busy": (lambda: [answer(PAGE, 503)], "fetched", 2, ""),
    "odd-status": (lambda: [answer(PAGE, 999)], "fetched", 1, ""),
    "no-place": (lambda: [answer(PAGE, 302)], "fetched", 1, ""),
    "kept-open": (lambda: [answer(PAGE), KEEP], "fetched", 1, ""),
}  # fmt: skip


@pytest.fixture(scope="module")
def run() -> Iterator[tuple[Site, Outcome, dict[str, str]]]:
    def handler(asked: Asked) -> Iterator[bytes | float | Step]:
        yield from FAULTS[asked.path[1:]][0]()

    with serving_pages(handler) as site:
        names = {name: f"{name}.faults.example.org:{site.port}" for name in FAULTS}
        urls = {name: f"http://{place}/{name}" for name, place in names.items()}
        # Long enough for a good page on a busy machine, short enough to wait for those that stall.
        bounds = {"read_seconds": 1.5, "total_seconds": 4}
        yield site, fetch(urls.values(), web_settings(names.values(), bounds=bounds)), urls


@pytest.mark.parametrize("name", FAULTS)
def test_a_page_gets_an_outcome_whatever_its_server_does(
    name: str, run: tuple[Site, Outcome, dict[str, str]]
) -> None:
    _, outcome, urls = run
    assert outcome.error is None
    fetched = outcome.fetched[urls[name]]
    _, expected, tries, said = FAULTS[name]
    assert (fetched.outcome, fetched.tries) == (expected, tries), fetched
    assert said in (fetched.error or "")
    if expected == "fetched":
        assert fetched.error is None
        assert len(outcome.content(urls[name])) == fetched.n_bytes
    else:
        assert (fetched.sha, fetched.n_bytes) == (None, None)
        assert fetched.error
        assert fetched.error.isprintable()
        assert Path(__file__).anchor + "tmp" not in fetched.error


def test_pages_that_did_not_come_leave_no_bytes_behind(
    run: tuple[Site, Outcome, dict[str, str]],
) -> None:
    _, outcome, _ = run
    kept = {fetched.sha for fetched in outcome.fetched.values() if fetched.sha}
    assert {path.name for path in outcome.files()} == {f"{sha}.gz" for sha in kept}


def test_ten_megabytes_are_kept_as_they_came() -> None:
    with serving_pages(lambda asked: [answer(LARGE)]) as site:
        settings = web_settings([site.place], bounds={"most_bytes": len(LARGE)})
        outcome = fetch([site.url()], settings)
        assert outcome.content(site.url()) == LARGE


def test_a_page_that_heals_is_fetched_and_its_first_tries_are_not_kept() -> None:
    answers: list[Steps] = [[CUT], [answer(b"busy", 503)], [answer(PAGE)]]
    with serving_pages(lambda asked: answers.pop(0)) as site:
        outcome = fetch([site.url()], web_settings([site.place], manners={"tries": 3}))
        fetched = outcome.fetched[site.url()]
        assert (fetched.outcome, fetched.http_status, fetched.tries) == ("fetched", 200, 3)
        assert len(outcome.files()) == 1


@pytest.mark.parametrize(
    ("headers", "tries", "least"),
    [({}, 2, 0.0), ({"retry_after": "1"}, 2, 1.0), ({"retry_after": "3600"}, 1, 0.0),
     ({"retry_after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 2, 0.0),
     ({"retry_after": "Fri, 31 Dec 99999999 23:59:59 GMT"}, 2, 0.0),
     ({"retry_after": "soon"}, 2, 0.0), ({"retry_after": "9" * 4000}, 1, 0.0)],
)  # fmt: skip
def test_a_storm_of_429_ends_with_the_last_answer(
    headers: dict[str, str], tries: int, least: float
) -> None:
    with serving_pages(lambda asked: [answer(PAGE, 429, **headers), KEEP]) as site:
        fetched = fetch([site.url()], web_settings([site.place])).fetched[site.url()]
        assert (fetched.outcome, fetched.http_status, fetched.tries) == ("fetched", 429, tries)
        assert fetched.seconds >= least
        assert len(site.asked) == tries
