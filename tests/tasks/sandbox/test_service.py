"""The service over a real socket: its shapes, its refusals, who may ask and how often."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.datastructures import Headers

from tasks.sandbox.access import AccessRules
from tasks.sandbox.service import LOOPBACK
from tasks.sandbox.tokens import SandboxToken, issue_token
from tasks.serving.gate import Gate, serving_names
from tests.servers.applications import serving_application
from tests.tasks.sandbox.archives import (
    ALL,
    BAKERY,
    COPY,
    KEEPER,
    MOVED,
    PAGES,
    TOWERS,
    WIKI,
    WRECKS,
    folder,
    make_ban,
    page,
    served_from,
    settings,
)

__all__ = ["folder"]
TWICE_MOVED = "https://older.example/h"
BAN = make_ban(["harrow"], [WIKI, "bread.example"])
ASSIGNMENTS = frozenset({"harrow", "bread"})
BANNED = {WIKI, COPY, MOVED, TWICE_MOVED, BAKERY}
"""The article, its copy, what leads to them, and the pages of the host that a question bans."""
KEY_TEXT = "a key for tokens"
KEY = sha256(KEY_TEXT.encode()).digest()


def bearer(**claims: str) -> dict[str, str]:
    """The headers of a job of the edition."""
    given = {"edition": "e", "assignment": "harrow", "agent": "a", "job": "j"} | claims
    token = issue_token(KEY, SandboxToken.model_validate(given), timedelta(minutes=1))
    return {"Authorization": f"Bearer {token}"}


@contextmanager
def client(
    folder: Path, how: dict[str, Any] | None = None, **served: Any
) -> Iterator[httpx.Client]:
    log, names = served.pop("log", None), served.pop("names", LOOPBACK)
    given = AccessRules.model_validate(
        {"name": "e", "ban": BAN, "assignments": ASSIGNMENTS} | served
    )
    pages = (*PAGES, page(TWICE_MOVED, "A still older address of Harrow Point.", final_url=MOVED))
    make = served_from(folder, given, settings(**(how or {})), log, pages, names)
    with (
        serving_application(make) as address,
        httpx.Client(base_url=address, trust_env=False, timeout=30) as http,
    ):
        yield http


@pytest.fixture(scope="module")
def asked(folder: Path) -> Iterator[httpx.Client]:
    with client(folder) as http:
        yield http


def found(http: httpx.Client, **asked: Any) -> list[str]:
    answer = http.get("/search", params={"query": ALL, "format": "json"} | asked)
    assert answer.status_code == 200, answer.text
    return [result["url"] for result in answer.json()["results"]]


def test_search_answers_in_the_shape_of_deepresearchgym(asked: httpx.Client) -> None:
    answer = asked.get("/search", params={"query": "wreck of the Calliope", "k": 1})
    assert answer.headers["content-type"] == "application/json"
    assert set(answer.json()) == {"results"}
    [result] = (json.loads(base64.b64decode(one)) for one in answer.json()["results"])
    assert set(result) == {"url", "id", "title", "text", "language"}
    assert (result["url"], result["text"]) == (WRECKS, PAGES[1].text)


def test_the_parts_can_be_spelt_as_clueweb_does(asked: httpx.Client) -> None:
    answer = asked.get("/search", params={"query": "keeper Dahl", "k": 1, "shape": "clueweb"})
    [result] = (json.loads(base64.b64decode(one)) for one in answer.json()["results"])
    assert set(result) == {"URL", "URL-hash", "ClueWeb22-ID", "Title", "Language", "Clean-Text"}
    assert (result["URL"], result["Clean-Text"]) == (KEEPER, PAGES[2].text)


def test_plain_json_has_ranks_scores_and_passages(asked: httpx.Client) -> None:
    answer = asked.get("/search", params={"query": "Calliope lighthouse", "k": 3, "format": "json"})
    first, second, *_ = answer.json()["results"]
    assert (first["rank"], second["rank"]) == (1, 2)
    assert first["score"] >= second["score"]
    assert "Calliope" in first["snippet"]
    assert set(first) == {"rank", "score", "url", "title", "snippet", "language", "day"}


def test_a_page_is_fetched_with_its_text(asked: httpx.Client) -> None:
    page = asked.get("/fetch", params={"url": TOWERS}).json()
    assert page == {"url": TOWERS, "title": PAGES[0].title, "text": PAGES[0].text,
                    "language": None, "day": "2025-03-01", "final_url": None}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/search", 422, "query: Field required"),
        ("/search?query=", 422, "query: String should have at least 1 character"),
        (f"/search?query={'x' * 2001}", 422, "query: String should have at most 2000"),
        ("/search?query=x&k=0", 422, "k: Input should be greater than or equal to 1"),
        ("/search?query=x&k=101", 422, "k: Input should be less than or equal to 100"),
        ("/search?query=x&k=many", 422, "k: Input should be a valid integer"),
        ("/search?query=x&format=xml", 422, "format: Input should be 'gym' or 'json'"),
        ("/search?query=x&assignment=none", 422, "e has no assignment 'none'"),
        ("/fetch?url=https://nowhere.example/", 404, "is not in the archive"),
        (f"/fetch?url={WIKI}", 404, "is banned by an assignment of the edition"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_words(
    asked: httpx.Client, path: str, status: int, said: str
) -> None:
    answer = asked.get(path)
    assert answer.status_code == status
    assert said in answer.json()["error"]


EVERY_ASSIGNMENT = [{}, {"assignment": "harrow"}, {"assignment": "bread"}]


@pytest.mark.parametrize("named", EVERY_ASSIGNMENT)
def test_what_any_assignment_bans_is_found_by_nobody(
    asked: httpx.Client, named: dict[str, str]
) -> None:
    assert set(found(asked, k=100, **named)) == {TOWERS, WRECKS, KEEPER}
    for query in ("Harrow Point Lighthouse", "bakers of Tolmen", "magnificent encyclopedias"):
        for form in ("json", "gym"):
            sent = {"query": query, "k": 100, "format": form} | named
            results = asked.get("/search", params=sent).json()["results"]
            shown = str(results if form == "json" else [base64.b64decode(one) for one in results])
            assert not [url for url in BANNED if url in shown]
            assert "magnificent" not in shown
            assert "Oskar Lindqvist, designed it" not in shown


@pytest.mark.parametrize("named", EVERY_ASSIGNMENT)
@pytest.mark.parametrize("url", [*sorted(BANNED), f"{WIKI}?action=raw", f"{COPY}#history",
                                 COPY.replace("https://", "http://www.")])  # fmt: skip
def test_what_any_assignment_bans_is_fetched_by_nobody(
    asked: httpx.Client, url: str, named: dict[str, str]
) -> None:
    answer = asked.get("/fetch", params={"url": url} | named, follow_redirects=True)
    assert answer.status_code == 404
    assert "text" not in answer.json()


def test_no_parameter_relaxes_the_bans(asked: httpx.Client) -> None:
    for sent in ({"ban": ""}, {"bans": "none"}, {"without_banned": "false"}, {"as_of": ""},
                 {"edition": ""}):  # fmt: skip
        assert set(found(asked, k=100, **sent)) == {TOWERS, WRECKS, KEEPER}
        assert asked.get("/fetch", params={"url": WIKI} | sent).status_code == 404
    repeated = [("query", ALL), ("format", "json"), ("assignment", "harrow"), ("assignment", "x")]
    assert asked.get("/search", params=repeated).status_code == 422  # type: ignore[arg-type]
    assert asked.get("/search", params={"query": ALL, "assignment": ""}).status_code == 422


def test_health_counts_what_is_served_and_what_is_banned(asked: httpx.Client) -> None:
    told = asked.get("/health").json()
    assert (told["pages"], told["banned"]) == (3, len(BANNED))


def test_without_an_edition_nothing_is_banned_and_health_says_so(folder: Path) -> None:
    with client(folder, ban=None, assignments=frozenset()) as http:
        assert {WIKI, COPY, BAKERY} <= set(found(http))
        told = http.get("/health").json()
        assert (told["pages"], told["banned"]) == (8, None)
        refused = http.get("/search", params={"query": "x", "assignment": "harrow"})
        assert refused.json()["reason"] == "unknown_assignment"


def test_as_of_a_day_holds_for_all_requests(folder: Path) -> None:
    with client(folder, as_of=date(2025, 3, 1)) as http:
        assert found(http) == [TOWERS]
        told = http.get("/health").json()
        assert (told["pages"], told["banned"]) == (1, len(BANNED))
        banned = http.get("/fetch", params={"url": WIKI})
        assert banned.json()["reason"] == "banned"
        late = http.get("/fetch", params={"url": KEEPER})
        assert (late.status_code, late.json()["reason"]) == (404, "later")


@pytest.fixture(scope="module")
def keyed(folder: Path) -> Iterator[httpx.Client]:
    with client(folder, edition="e", token_key=KEY) as http:
        yield http


@pytest.mark.parametrize("path", ["/", "/health", "/openapi.json"])
def test_what_says_nothing_of_the_pages_needs_no_token(keyed: httpx.Client, path: str) -> None:
    assert keyed.get(path).status_code == 200


def test_who_asks_too_often_waits_and_others_do_not(folder: Path) -> None:
    with client(folder, {"per_minute": 3}, edition="e", token_key=KEY) as http:
        mine = [http.get("/fetch?url=x", headers=bearer()) for _ in range(5)]
        assert [answer.status_code for answer in mine] == [404, 404, 404, 429, 429]
        assert mine[-1].headers["retry-after"] == "20"
        assert "More than 3 requests a minute" in mine[-1].json()["error"]
        assert mine[-1].json()["reason"] == "too_often"
        assert http.get("/fetch?url=x", headers=bearer(job="other")).status_code == 404
        assert http.get("/health").status_code == 200


EVERY_PATH = ("/", "/health", "/openapi.json", "/search?query=x", f"/fetch?url={TOWERS}", "/mcp")


@pytest.mark.parametrize("path", EVERY_PATH)
@pytest.mark.parametrize("host", ["evil.example", "evil.example:81", "127.0.0.1.evil.example", ""])
def test_a_page_of_another_site_cannot_ask_through_a_browser(
    asked: httpx.Client, path: str, host: str
) -> None:
    method = "POST" if path == "/mcp" else "GET"
    answer = asked.request(method, path, headers={"host": host})
    assert (answer.status_code, answer.json()["reason"]) == (421, "wrong_host")
    assert "Ask for 127.0.0.1, [::1], localhost" in answer.json()["error"]


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8100", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:8100"]
)
def test_this_machine_has_several_names(asked: httpx.Client, host: str) -> None:
    assert asked.get("/search?query=x", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    ("bound", "name", "status"),
    [("127.0.0.2", "127.0.0.2", 200), ("localhost", "evil.example", 421), ("::1", "[::1]", 200),
     ("::1", "evil.example", 421), ("0.0.0.0", "search.example", 421),
     ("search.example", "search.example", 200), ("search.example", "10.0.0.7", 200)],
)  # fmt: skip
def test_every_server_minds_its_name(bound: str, name: str, status: int) -> None:
    gate = Gate(lambda *_: None, serving_names(bound))  # type: ignore[arg-type]
    refused = gate.check(Headers({"host": name}))
    assert (refused.status if refused else 200) == status


def test_a_name_that_the_operator_gives_opens_search_and_tools_alike(folder: Path) -> None:
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accepted = {"host": "sandbox:8100", "accept": "application/json, text/event-stream"}
    with client(folder, names=serving_names("127.0.0.1", ["sandbox"])) as http:
        assert http.get("/search?query=x", headers={"host": "sandbox:8100"}).status_code == 200
        assert "fetch" in http.post("/mcp", json=listing, headers=accepted).text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/mcp", 405), ("DELETE", "/mcp", 405), ("POST", "/search?query=x", 405),
     ("GET", "/nowhere", 404)],
)  # fmt: skip
def test_what_nothing_answers_is_refused_in_the_same_form(
    asked: httpx.Client, method: str, path: str, status: int
) -> None:
    answer = asked.request(method, path, headers={"accept": "text/event-stream"})
    assert (answer.status_code, answer.json()["reason"]) == (status, "malformed")
    assert answer.json()["error"]
    assert (status == 405) == ("allow" in answer.headers)


def test_queries_are_told_only_where_that_is_wanted(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    secret = "whatnobodymustread"
    with client(folder) as http:
        http.get("/search", params={"query": secret})
        http.get("/search", params={"query": secret, "k": 0})
        http.get("/fetch", params={"url": f"https://x.example/{secret}"})
    assert secret not in "".join(capfd.readouterr())
    told: list[str] = []
    with client(folder, log=told.append) as http:
        http.get("/search", params={"query": "two\nlines"})
        http.get("/fetch", params={"url": TOWERS})
    assert told == ["search 'two\\nlines'", f"fetch {TOWERS!r}"]


def test_it_describes_itself_without_loading_anything(asked: httpx.Client) -> None:
    described = asked.get("/openapi.json").json()
    assert set(described["paths"]) == {"/search", "/fetch", "/health"}
    shown = asked.get("/").text
    assert "At most 2,000 characters. Required." in shown
    assert "//" not in shown.replace("<!doctype html>", "")
    assert asked.get("/docs").status_code == 404
