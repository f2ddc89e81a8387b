"""An agent, or somebody else, at the sandbox server"""

import asyncio
import sqlite3
from collections.abc import Iterator
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from fastapi import FastAPI
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tasks.agents.kinds.http import HttpAsk
from tasks.configuration.errors import ConfigurationError
from tasks.jobs.searches import collect_searches
from tasks.sandbox.service import NotifyingServer
from tasks.sandbox.tokens import ReaderToken, SandboxToken, find_token_key, issue_token
from tasks.warehouse.jobs import Job
from tasks.warehouse.rows import Report
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.traces import SearchTrace
from tasks.warehouse.writer import Change
from tests.tasks.sandbox.archives import COPY, MOVED, TOWERS, WIKI
from tests.tasks.sandbox.test_service import KEY, KEY_TEXT, bearer, client

SAID = '[{"query": "what it never asked"}]'
PATHS = ("/search?query=x", f"/fetch?url={TOWERS}", "/mcp", "/asked", "/nowhere")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("index") / "i"


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[httpx.Client]:
    with client(folder, edition="e", token_key=KEY) as http:
        yield http


def forged(**changed: Any) -> str:
    claims = {"edition": "e", "assignment": "harrow", "agent": "a", "job": "j", "exp": 2**33}
    return jwt.encode(claims | changed, sha256(b"another key").digest(), "HS256")


def unsigned() -> str:
    claims = {"edition": "e", "assignment": "harrow", "agent": "a", "job": "j", "exp": 2**33}
    return jwt.encode(claims, "", "none")


def eternal() -> str:
    claims = {"edition": "e", "assignment": "harrow", "agent": "a", "job": "j"}
    return jwt.encode(claims, KEY, "HS256")


def expired() -> str:
    token = SandboxToken(edition="e", assignment="harrow", agent="a", job="j")
    return issue_token(KEY, token, timedelta(seconds=-1))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "headers",
    [{}, {"x-api-key": "guess"}, {"x-api-key": ""}, {"authorization": "Bearer wröng".encode()},
     {"authorization": "Basic right"}, {"authorization": f"Bearer {forged()}"},
     {"x-api-key": unsigned()}, {"x-api-key": eternal()}, {"x-api-key": expired()}],
)  # fmt: skip
def test_nothing_is_given_without_a_token(server: httpx.Client, path: str, headers: Any) -> None:
    """The sandbox answers nobody without a token that it accepts: signed, and not expired."""
    answer = server.get(path, headers=headers)
    assert (answer.status_code, answer.json()["reason"]) == (401, "no_token")


def test_a_token_is_bound_to_its_edition(server: httpx.Client) -> None:
    """A token opens one edition alone."""
    assert server.get("/search?query=x", headers=bearer()).status_code == 200
    assert server.get("/search?query=x", headers=bearer(edition="other")).status_code == 401


def test_a_token_is_bound_to_its_assignment(server: httpx.Client) -> None:
    """A token serves one assignment alone, and none that the edition lacks."""
    asked = "/search?query=x&assignment=bread"
    assert server.get(asked, headers=bearer(assignment="bread")).status_code == 200
    assert server.get(asked, headers=bearer()).status_code == 422
    assert server.get("/search?query=x", headers=bearer(assignment="none")).status_code == 422


def call_tool(server: httpx.Client, path: str, headers: dict[str, str]) -> str:
    """What a tool of MCP says."""
    called = {"name": "search", "arguments": {"query": "lighthouse by a tool"}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
    accepted = {"accept": "application/json, text/event-stream"}
    return server.post(path, json=asked, headers=accepted | headers).text


def test_a_tool_is_bound_as_its_token_is(server: httpx.Client) -> None:
    """What a model asks by MCP is bound to its token and kept as every other request."""
    mine = bearer(job="job-8")
    assert "towers.example" in call_tool(server, "/mcp", mine)
    for path in ("/mcp?assignment=bread", "/mcp?assignment=none"):
        answer = call_tool(server, path, mine)
        assert "assignment" in answer
        assert "towers.example" not in answer
    reader = issue_token(KEY, ReaderToken(reads="job-8"), timedelta(minutes=1))
    kept = server.get("/asked", headers={"x-api-key": reader}).json()
    assert [one["outcome"] for one in kept] == ["served", *["unknown_assignment"] * 2]
    assert "no_token" in call_tool(server, "/mcp", {"x-api-key": reader})


def test_nobody_says_from_where_he_asks(folder: Path) -> None:
    """Whoever asks an open sandbox too often waits, whatever address he claims."""
    served = NotifyingServer(FastAPI(), lambda: None).config
    assert not served.proxy_headers
    with client(folder, {"per_minute": 2}, edition="e") as http:
        claims = [{"x-forwarded-for": f"10.0.0.{number}"} for number in range(3)]
        answers = [http.get("/search?query=x", headers=claim).status_code for claim in claims]
    assert answers == [200, 200, 429]


@pytest.mark.parametrize("url", [WIKI, COPY, MOVED])
@pytest.mark.parametrize("assignment", ["harrow", "bread"])
def test_the_target_article_is_not_there(server: httpx.Client, url: str, assignment: str) -> None:
    """No token of any assignment gets an article of the edition, nor a copy of one."""
    given = {"url": url, "assignment": assignment}
    answer = server.get("/fetch", params=given, headers=bearer(assignment=assignment))
    assert answer.json()["reason"] == "banned"


def test_an_open_server_gives_nothing_that_is_banned(folder: Path) -> None:
    """An open sandbox, too, leaves out what any assignment of its edition bans."""
    with client(folder, edition="e") as http:
        assert http.get("/search?query=x").status_code == 200
        for url in (WIKI, COPY, MOVED):
            assert http.get("/fetch", params={"url": url}).json()["reason"] == "banned"


def test_what_a_token_asked_for_is_kept(server: httpx.Client) -> None:
    """What each token asks for is kept, what it was refused too, and only we can read it."""
    mine = bearer(job="job-7")
    server.get("/search", params={"query": "lighthouse'; DROP TABLE asked"}, headers=mine)
    server.get("/fetch", params={"url": WIKI}, headers=mine)
    reader = issue_token(KEY, ReaderToken(reads="job-7"), timedelta(minutes=1))
    kept = server.get("/asked", headers={"x-api-key": reader}).json()
    assert [(one["call"], one["argument"], one["outcome"]) for one in kept] == [
        ("search", "lighthouse'; DROP TABLE asked", "served"), ("fetch", WIKI, "banned"),
    ]  # fmt: skip
    assert server.get("/asked", headers=mine).status_code == 401
    assert server.get("/search?query=x", headers={"x-api-key": reader}).status_code == 401


def done_job(assignment: str, ask: HttpAsk) -> tuple[Change, ...]:
    """An ended job with its report, and the searches of which its agent speaks."""
    of = {"edition": "e", "agent": "a", "assignment": assignment}
    job = f"job-{assignment}"
    return (
        Change(Job, [Job(**of, job=job, attempt=1, kind="http", prompt="", prompt_sha="",
                         parameters=ask.model_dump_json(), state="done")]),
        Change(Report, [Report(**of, text="", text_sha="", source_path=f"job {job}")]),
        Change(SearchTrace, [SearchTrace(**of, trace=SAID, trace_sha="", source="agent")]),
    )  # fmt: skip


def test_an_agent_that_asked_nothing_has_searched_nothing(
    server: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent that could search the sandbox, and did not, has no searches, whatever it says."""
    monkeypatch.setenv("EVERGREEN_SANDBOX", str(server.base_url))
    monkeypatch.setenv("EVERGREEN_SANDBOX_KEY", KEY_TEXT)
    searching = HttpAsk(kind="http", url="http://agent.example", sandbox=True)
    before = searching.model_copy(update={"sandbox": False})
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        warehouse.write(*done_job("harrow", searching), *done_job("bread", before))
        asyncio.run(collect_searches(warehouse, "e", "a", searching, pytest.fail))
        kept = warehouse.rows(SearchTrace, "true")
    assert {(row.assignment, row.trace, row.source) for row in kept} == {
        ("harrow", "[]", "sandbox"), ("bread", SAID, "agent"),
    }  # fmt: skip


def test_what_was_asked_is_in_one_file(folder: Path) -> None:
    with sqlite3.connect(folder.parent / "asked.sqlite") as store:
        assert store.execute("SELECT count(*) FROM asked").fetchone()[0] > 0


def test_a_web_socket_is_held_to_the_same_names(server: httpx.Client) -> None:
    """A WebSocket under a foreign name is refused as a request is."""
    place = {"host": server.base_url.host, "port": server.base_url.port}

    async def open_it() -> None:
        async with connect("ws://evil.example/mcp", **place):  # type: ignore[arg-type]
            pass

    with pytest.raises(InvalidStatus, match="403"):
        asyncio.run(open_it())


def test_the_key_is_hard_to_guess(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key for tokens that is set in the environment must be long."""
    monkeypatch.setenv("EVERGREEN_SANDBOX_KEY", "short")
    with pytest.raises(ConfigurationError, match="too short"):
        find_token_key(tmp_path / "sandbox")
