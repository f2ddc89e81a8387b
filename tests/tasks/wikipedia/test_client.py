"""Asking a wiki within its rules: what it says when it cannot answer, and what we then do."""

import asyncio
from typing import Any
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.wikipedia.client import MediaWiki, split_batches
from tasks.wikipedia.errors import WikiRefused, WikiUnreachable
from tests.servers.http import Response, json_response
from tests.tasks.wikipedia.conftest import OPERATOR, Scripted, SimulatedClock, scripted, with_wiki

MAXLAG = {"error": {"code": "maxlag", "info": "Waiting for a database: 7 seconds lagged."}}
HOUR = Response(429, headers=(("Retry-After", "3600"),))


def siteinfo(wiki: MediaWiki) -> Any:
    return wiki.ask(action="query", meta="siteinfo")


def form(script: Scripted, number: int = 0) -> dict[str, str]:
    return {k: v[0] for k, v in parse_qs(script.asked[number].body.decode()).items()}


def test_every_request_names_the_operator_and_asks_for_maxlag() -> None:
    with scripted({}) as (script, api):
        with_wiki(api, siteinfo)
    assert OPERATOR in script.asked[0].headers["user-agent"]
    assert "EvergreenBench/" in script.asked[0].headers["user-agent"]
    assert form(script) == {
        "action": "query", "meta": "siteinfo", "maxlag": "5", "format": "json",
        "formatversion": "2",
    }  # fmt: skip


@pytest.mark.parametrize(
    "trouble",
    [
        Response(429, b"slow down"),
        Response(503, b"<!DOCTYPE html>"),
        Response(502),
        json_response(MAXLAG),
        json_response({"error": {"code": "ratelimited", "info": "As an anti-abuse measure"}}),
        json_response({"error": {"code": "internal_api_error_DBConnectionError", "info": "x"}}),
        Response(200, b'{"query":{"pa'),
        Response(200, b"{}" * 50, broken="half_body"),
        Response(200, b"{}" * 50, broken="reset_mid_body"),
        Response(200, broken="reset"),
        json_response({}, broken="bad_gzip"),
        json_response({}, broken="cut_gzip"),
        json_response({}, broken="unknown_encoding"),
    ],
    ids=["429", "503", "502", "maxlag", "ratelimited", "database", "cut json", "half a body",
         "reset in the body", "reset", "no gzip", "half a gzip", "an unknown encoding"],
)  # fmt: skip
def test_what_may_heal_is_asked_again(trouble: Response) -> None:
    with scripted(trouble, trouble, {"query": {}}) as (script, api):
        assert with_wiki(api, siteinfo) == {"query": {}}
    assert len(script.asked) == 3


def test_a_cookie_that_cannot_be_sent_back_spoils_no_further_request() -> None:
    placed = json_response({"query": {}}, headers=(("Set-Cookie", "GeoIP=DE:BY:München"),))

    async def twice(wiki: MediaWiki) -> list[Any]:
        return [await siteinfo(wiki), await siteinfo(wiki)]

    with scripted(placed) as (script, api):
        assert with_wiki(api, twice, tries=1) == [{"query": {}}, {}]
    assert "cookie" not in script.asked[1].headers


@pytest.mark.parametrize(
    ("status", "body"), [(429, b""), (503, b""), (200, b'{"error":{"code":"maxlag","info":"x"}}')]
)
def test_a_hint_is_waited_for_and_never_undercut(status: int, body: bytes) -> None:
    clock = SimulatedClock()
    hint = Response(status, body, headers=(("Retry-After", "37"),))
    with scripted(hint, {}) as (_, api):
        with_wiki(api, siteinfo, clock)
    assert max(clock.slept) >= 37


@pytest.mark.parametrize(
    ("answers", "error", "said"),
    [
        ([HOUR], WikiUnreachable, r"3,600 seconds.*run the same command again"),
        ([json_response(MAXLAG)] * 3, WikiUnreachable,
         r"api\.php: no usable answer in 3 tries.*lagged"),
        ([json_response({"error": {"code": "badvalue", "info": "x"}})], WikiRefused, "badvalue"),
        ([Response(403, b"Please set a user-agent")], WikiRefused,
         "HTTP 403.*user-agent.*`operator`"),
        ([Response(404, b"not here")], WikiRefused, "HTTP 404: not here"),
        ([Response(301, headers=(("Location", "https://other.example/"),))], WikiRefused,
         "other.example"),
        ([json_response([1, 2])], WikiRefused, "expected a MediaWiki API's answer, found list"),
        ([json_response({"much": "x" * 5000})], WikiRefused, "more than 1,000 bytes"),
    ],
    ids=["wants an hour", "still lags after all tries", "another value", "no operator",
         "not found", "elsewhere", "a list", "without end"],
)  # fmt: skip
def test_what_will_not_heal_is_said_at_once_and_the_wiki_left_alone(
    answers: list[Response], error: type[Exception], said: str
) -> None:
    clock = SimulatedClock()
    with scripted(*answers) as (script, api), pytest.raises(error, match=said):
        with_wiki(api, siteinfo, clock, tries=3, largest_answer_bytes=1000)
    assert len(script.asked) == len(answers)
    assert clock.time < 60


def test_an_address_that_is_none_is_refused() -> None:
    for address in ("ftp://wiki.example/w/api.php", "wiki.example", "https://"):
        with pytest.raises(WikiRefused, match="address"):
            with_wiki(address, siteinfo, tries=1)


def test_nobody_at_the_address_is_unreachable() -> None:
    with scripted() as (_, api):
        pass  # the server has ended
    with pytest.raises(WikiUnreachable, match=": Connection refused"):
        with_wiki(api, siteinfo, tries=2)


def test_at_most_three_are_in_flight_and_their_starts_are_a_second_apart() -> None:
    clock = SimulatedClock()
    now_open, most = 0, 0
    starts: list[float] = []

    def ended(_: bool) -> None:
        nonlocal now_open
        now_open -= 1

    def count(_: Any) -> Response:
        nonlocal now_open, most
        now_open += 1
        most = max(most, now_open)
        starts.append(clock.time)
        return json_response({}, delay_seconds=0.05, on_end=ended)

    from tests.servers.serving import serving

    async def ask_ten(wiki: MediaWiki) -> None:
        await asyncio.gather(*(siteinfo(wiki) for _ in range(10)))

    with serving(count) as address:
        with_wiki(f"{address}/w/api.php", ask_ten, clock)
    assert most == 3
    assert starts[-1] >= 9


def test_a_list_is_read_to_its_end() -> None:
    parts = [
        {"continue": {"cmcontinue": "b", "continue": "-||"},
         "query": {"categorymembers": [{"pageid": 1}, {"pageid": 2}]}},
        {"query": {"categorymembers": [{"pageid": 3}]}},
    ]  # fmt: skip

    async def members(wiki: MediaWiki) -> list[int]:
        return [
            m["pageid"] async for m in wiki.list_entries("categorymembers", cmtitle="Category:X")
        ]

    with scripted(*parts) as (script, api):
        assert with_wiki(api, members) == [1, 2, 3]
    assert form(script, 1)["cmcontinue"] == "b"


def test_a_list_that_goes_on_for_ever_is_noticed() -> None:
    part = {"continue": {"cmcontinue": "a"}, "query": {"categorymembers": [{"pageid": 1}]}}

    async def members(wiki: MediaWiki) -> list[Any]:
        return [m async for m in wiki.list_entries("categorymembers")]

    with scripted(part, part, part) as (_, api), pytest.raises(WikiRefused, match="never end"):
        with_wiki(api, members)


def test_the_parts_of_a_page_are_put_together() -> None:
    parts = [
        {"continue": {"clcontinue": "7|B"},
         "query": {"pages": [{"pageid": 7, "title": "Owl", "categories": [{"title": "A"}]}]}},
        {"query": {"pages": [{"pageid": 7, "title": "Owl", "length": 5,
                              "categories": [{"title": "B"}]}]}},
    ]  # fmt: skip
    with scripted(*parts) as (_, api):
        pages = with_wiki(api, lambda wiki: wiki.fetch_pages([7], prop="categories"))
    assert pages[7]["length"] == 5
    assert [category["title"] for category in pages[7]["categories"]] == ["A", "B"]


def test_a_title_is_found_under_the_name_it_was_asked_by() -> None:
    answer = {
        "query": {
            "normalized": [{"from": "talk:owl_x", "to": "Talk:Owl x"}],
            "redirects": [{"from": "Talk:Owl x", "to": "Talk:Owl"}],
            "pages": [
                {"pageid": 8, "title": "Talk:Owl"},
                {"title": "Talk:Gone", "missing": True},
                {"title": "Talk:<>", "invalid": True},
            ],
        }
    }
    asked = ["talk:owl_x", "Talk:Gone", "Talk:<>"]
    with scripted(answer) as (_, api):
        found = with_wiki(api, lambda wiki: wiki.fetch_by_title(asked, prop="info"))
    assert {title: page["pageid"] for title, page in found.items()} == {"talk:owl_x": 8}


def test_redirects_in_a_circle_end() -> None:
    circle = [{"from": "A", "to": "B"}, {"from": "B", "to": "A"}]
    with scripted({"query": {"redirects": circle}}) as (_, api):
        assert with_wiki(api, lambda wiki: wiki.fetch_by_title(["A"])) == {}


@given(st.lists(st.integers(), max_size=200), st.integers(1, 60))
def test_batches_hold_everything_once_and_in_order(items: list[int], size: int) -> None:
    parts = split_batches(items, size)
    assert [item for part in parts for item in part] == items
    assert all(0 < len(part) <= size for part in parts)
