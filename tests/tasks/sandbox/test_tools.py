"""The tools, asked by the SDK's own client over a real socket."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tasks.sandbox.access import AccessRules
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
)

__all__ = ["folder"]
LONG = page("https://long.example/x", "A long page. " * 10_000)


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    served = AccessRules(
        name="e",
        ban=make_ban(["harrow"], [WIKI, "towers.example"]),
        assignments=frozenset({"harrow", "towers"}),
    )
    with serving_application(served_from(folder, served, pages=(*PAGES, LONG))) as address:
        yield address


def told(address: str, ask: Callable[[Any], Awaitable[Any]], mode: str = "auto") -> Any:
    from mcp.client import Client

    async def run() -> Any:
        async with Client(address, mode=mode) as client:
            return await ask(client)

    return asyncio.run(run())


def called(address: str, tool: str, **arguments: Any) -> Any:
    return told(address, lambda client: client.call_tool(tool, arguments))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_there_are_two_tools_and_they_say_what_they_take(address: str, mode: str) -> None:
    tools = told(f"{address}/mcp", lambda client: client.list_tools(), mode).tools
    assert {tool.name for tool in tools} == {"search", "fetch"}
    assert all(tool.description for tool in tools)
    taken = {tool.name: set(tool.input_schema["properties"]) for tool in tools}
    assert taken == {"search": {"query", "k"}, "fetch": {"url", "start"}}


def test_a_search_brings_pages_with_their_passages(address: str) -> None:
    answer = called(f"{address}/mcp", "search", query="Tolmen bakers", k=2)
    results = answer.structured_content["results"]
    assert results[0]["url"] == BAKERY
    assert "dark rye bread" in results[0]["snippet"]
    assert json.loads(answer.content[0].text)["results"] == results


def test_a_fetch_brings_the_text_and_long_ones_in_parts(address: str) -> None:
    assert called(f"{address}/mcp", "fetch", url=KEEPER).structured_content["text"] == PAGES[2].text
    parts: list[str] = []
    start: int | None = 0
    while start is not None:
        part = called(f"{address}/mcp", "fetch", url=LONG.url, start=start).structured_content
        parts.append(part["text"])
        start = part["next_start"]
    assert "".join(parts) == LONG.text
    assert len(parts) == 4


@pytest.mark.parametrize("named", ["", "?assignment=harrow", "?assignment=towers"])
def test_what_any_assignment_bans_no_tool_gives(address: str, named: str) -> None:
    place = f"{address}/mcp{named}"
    found = called(place, "search", query=ALL, k=100)
    urls = {one["url"] for one in found.structured_content["results"]}
    assert urls == {WRECKS, KEEPER, BAKERY}
    assert "magnificent" not in found.content[0].text
    for url in (WIKI, COPY, MOVED, TOWERS):
        refused = called(place, "fetch", url=url)
        assert refused.is_error
        assert "is banned by an assignment" in refused.content[0].text


def test_a_tool_takes_no_assignment_from_the_model(address: str) -> None:
    answer = called(f"{address}/mcp", "fetch", url=WIKI, assignment="towers", ban=None)
    assert answer.is_error


@pytest.mark.parametrize(
    ("place", "tool", "arguments", "said"),
    [
        ("", "fetch", {"url": "https://nowhere.example/"}, "is not in the archive"),
        ("", "search", {"query": ""}, "at least 1 character"),
        ("", "search", {"query": "x", "k": 1000}, "less than or equal to 100"),
        ("", "search", {"query": "x" * 5000}, "at most 2000"),
        ("?assignment=none", "search", {"query": "x"}, "no assignment 'none'"),
    ],
)
def test_what_cannot_be_answered_is_said_to_the_model(
    address: str, place: str, tool: str, arguments: dict[str, Any], said: str
) -> None:
    answer = called(f"{address}/mcp{place}", tool, **arguments)
    assert answer.is_error
    assert said in answer.content[0].text


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"jsonrpc":"2.0"}', b"x" * (2 << 20)])
def test_what_is_no_call_is_refused(address: str, body: bytes) -> None:
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    answer = httpx.post(f"{address}/mcp", content=body, headers=headers, trust_env=False)
    assert 400 <= answer.status_code < 500
