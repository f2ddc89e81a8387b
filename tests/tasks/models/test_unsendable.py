"""Addresses and keys of which no request can be made: said at once, and nobody is asked again."""

import asyncio

import pytest

from tasks.models.errors import Misconfigured
from tasks.wikipedia.errors import WikiRefused
from tests.servers.base import ModelServer
from tests.servers.http import Request, Response
from tests.servers.prompts_for_tests import verify_claims
from tests.servers.serving import serving
from tests.servers.test_servers import BOTH, client_for
from tests.tasks.agents.conversations import question, using
from tests.tasks.wikipedia.conftest import with_wiki

ADDRESSES = [
    "ftp://models.example", "models.example", "https://", "http://[::1", "http://256.1.1.1",
    "http://a..b", f"http://{'a' * 70}.example", "http://127.0.0.1:99999", "http://xn--a",
    "http://exa\xadmple.org:x",
]  # fmt: skip
KEYS = ["Schlüssel", "key\nand more", "key\0", "\udcff"]


async def ask(server: ModelServer, address: str, key: str) -> None:
    client = client_for(server, address, key)
    try:
        await client.ask(verify_claims())
    finally:
        await client.close()


@BOTH
@pytest.mark.parametrize("address", ADDRESSES)
def test_a_judge_s_address_that_is_none_stops_the_stage(
    kind: type[ModelServer], address: str
) -> None:
    with pytest.raises(Misconfigured, match="no request can be made"):
        asyncio.run(ask(kind(), address, "test-key"))


@BOTH
@pytest.mark.parametrize("key", KEYS)
def test_a_judge_s_key_that_no_request_can_hold_stops_the_stage_and_is_not_shown(
    kind: type[ModelServer], key: str
) -> None:
    server = kind(key=key)
    with serving(server) as address, pytest.raises(Misconfigured) as caught:
        asyncio.run(ask(server, address, key))
    assert key not in str(caught.value)
    assert server.log.entries == []


@pytest.mark.parametrize("kind", ["chat", "dashscope", "gemini_deep_research"])
@pytest.mark.parametrize("address", ADDRESSES)
def test_an_agent_s_address_that_is_none_stops_the_stage(kind: str, address: str) -> None:
    with pytest.raises(Misconfigured, match="no request can be made"):
        using(kind, address, lambda client: client.start(question()))


@pytest.mark.parametrize("kind", ["chat", "dashscope", "gemini_deep_research"])
@pytest.mark.parametrize("key", KEYS)
def test_an_agent_s_key_that_no_request_can_hold_stops_the_stage(kind: str, key: str) -> None:
    asked: list[Request] = []

    def handler(request: Request) -> Response:
        asked.append(request)
        return Response()

    with serving(handler) as address, pytest.raises(Misconfigured) as caught:
        using(kind, address, lambda client: client.start(question()), key=key)
    assert asked == []
    assert key not in str(caught.value)


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_wiki_s_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(WikiRefused, match="not an address that can be asked"):
        with_wiki(address, lambda wiki: wiki.ask(action="query"))
