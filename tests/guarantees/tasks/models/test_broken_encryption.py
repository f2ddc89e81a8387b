"""Answers over TLS in which a record comes that cannot be decrypted: lost, and asked again."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.models.errors import TransientError
from tasks.models.openai_chat import OpenAiChatClient
from tests.servers.certificates import make_certificate
from tests.servers.prompts_for_tests import verify_claims
from tests.servers.web_pages import GARBLE, KEEP, Asked, Site, Steps, answer, serving_pages
from tests.tasks.agents.conversations import question, using
from tests.tasks.web.fetched import fetch, web_settings
from tests.tasks.wikipedia.conftest import with_wiki

WHOLE = answer(json.dumps({"query": {}}).encode())


@pytest.fixture(params=["before the head", "amid the body"])
def site(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Site]:
    """A server two of whose answers break, then all are whole."""
    first: Steps = [GARBLE] if request.param == "before the head" else [WHOLE[:-3], GARBLE]

    def handler(asked: Asked) -> Steps:
        return first if len(running.asked) <= 2 else [WHOLE, KEEP]

    context = make_certificate(tmp_path, "IP:127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    with serving_pages(handler, context) as running:
        yield running


def address(site: Site) -> str:
    return site.url("").replace("http:", "https:")


def test_for_a_judge_it_is_perhaps_billed(site: Site) -> None:
    async def ask() -> None:
        client = OpenAiChatClient(address(site), "key", connections=1, timeout_seconds=20)
        with pytest.raises(TransientError) as caught:
            await client.ask(verify_claims())
        await client.close()
        assert (caught.value.kind, caught.value.maybe_billed) == ("connection", True)

    asyncio.run(ask())


def test_for_an_agent_too(site: Site) -> None:
    with pytest.raises(TransientError) as caught:
        using("chat", address(site), lambda client: client.start(question()))
    assert (caught.value.kind, caught.value.maybe_billed) == ("connection", True)
    assert len(site.asked) == 1


def test_a_wiki_is_asked_again(site: Site) -> None:
    assert with_wiki(address(site), lambda wiki: wiki.ask(action="query")) == {"query": {}}
    assert len(site.asked) == 3


def test_a_page_is_fetched_at_the_third_try(site: Site) -> None:
    url = f"{address(site)}/"
    fetched = fetch([url], web_settings([site.place], manners={"tries": 3})).fetched[url]
    assert (fetched.outcome, fetched.tries) == ("fetched", 3)
