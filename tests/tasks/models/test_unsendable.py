"""Addresses and keys of which no request can be made: said at once, and nobody is asked again."""

import asyncio
from collections.abc import Callable
from functools import partial

import pytest

from tasks.models.errors import Misconfigured
from tasks.wikipedia.errors import WikiRefused
from tests.servers.base import ModelServer
from tests.servers.gemini import GeminiServer
from tests.servers.http import Request, Response
from tests.servers.openai import OpenAiServer
from tests.servers.prompts_for_tests import verify_claims
from tests.servers.serving import serving
from tests.servers.test_servers import client_for
from tests.tasks.agents.conversations import question, using
from tests.tasks.wikipedia.conftest import with_wiki

ADDRESSES = [
    "ftp://models.example", "models.example", "https://", "http://[::1", "http://256.1.1.1",
    "http://a..b", f"http://{'a' * 70}.example", "http://127.0.0.1:99999", "http://xn--a",
    "http://exa\xadmple.org:x",
]  # fmt: skip
KEYS = ["Schlüssel", "key\nand more", "key\0", "\udcff"]


def ask_judge(kind: type[ModelServer], address: str, key: str) -> None:
    async def ask() -> None:
        client = client_for(kind(), address, key)
        try:
            await client.ask(verify_claims())
        finally:
            await client.close()

    asyncio.run(ask())


def ask_agent(kind: str, address: str, key: str) -> None:
    using(kind, address, lambda client: client.start(question()), key=key)


ASKERS: dict[str, Callable[[str, str], None]] = {
    **{kind.__name__: partial(ask_judge, kind) for kind in (GeminiServer, OpenAiServer)},
    **{kind: partial(ask_agent, kind) for kind in ("chat", "dashscope", "gemini_deep_research")},
}
"""Judges and agents, asked at an address with a key."""
ASK = pytest.mark.parametrize("asker", ASKERS)


@ASK
@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_that_is_none_stops_the_stage(asker: str, address: str) -> None:
    with pytest.raises(Misconfigured, match="no request can be made"):
        ASKERS[asker](address, "test-key")


@ASK
@pytest.mark.parametrize("key", KEYS)
def test_a_key_that_no_request_can_hold_stops_the_stage_and_is_not_shown(
    asker: str, key: str
) -> None:
    asked: list[Request] = []

    def handler(request: Request) -> Response:
        asked.append(request)
        return Response()

    with serving(handler) as address, pytest.raises(Misconfigured) as caught:
        ASKERS[asker](address, key)
    assert asked == []
    assert key not in str(caught.value)


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_wiki_s_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(WikiRefused, match="not an address that can be asked"):
        with_wiki(address, lambda wiki: wiki.ask(action="query"))
