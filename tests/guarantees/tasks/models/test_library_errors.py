"""Every error that the HTTP libraries know, and what it is for a call, an agent, a wiki, a page.

The libraries' classes are enumerated: one that a new version brings fails here until somebody has
said what it means.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import aiohttp
import httpx
import pytest
from google.genai import _interactions as interactions
from google.genai import errors as genai
from google.genai.errors import ExperimentalWarning

from tasks.agents.agent import AgentClient
from tasks.agents.baseline import sandbox as baseline_sandbox
from tasks.agents.baseline.index import UnreadableArchive
from tasks.agents.baseline.sandbox import SandboxPages
from tasks.models.errors import Misconfigured, ModelError, TransientError
from tasks.models.gemini import GeminiClient
from tasks.wikipedia.client import MediaWiki
from tasks.wikipedia.errors import WikiError, WikiRefused, WikiUnreachable
from tests.servers.agent_chat import ChatAgentServer
from tests.servers.agent_dashscope import DashScopeServer
from tests.servers.base import ModelServer
from tests.servers.gemini import GeminiServer
from tests.servers.http import Handler
from tests.servers.job_gemini import GeminiJobs
from tests.servers.job_openai import OpenAiJobs
from tests.servers.openai import OpenAiServer
from tests.servers.prompts_for_tests import verify_claims
from tests.servers.serving import serving
from tests.servers.test_servers import client_for
from tests.servers.web_pages import answer, serving_pages
from tests.tasks.agents.conversations import question, using
from tests.tasks.models.library_errors import (
    AIOHTTP,
    GARBLED,
    GENAI,
    HTTPX,
    MEANS,
    NOWHERE,
    STATUSES,
    WITHOUT_STATUS,
    Means,
    made,
    of_status,
    tree,
)
from tests.tasks.web.fetched import fetch_beside_an_answer, web_settings
from tests.tasks.wikipedia.conftest import scripted, with_wiki


def test_it_is_said_what_every_class_of_the_libraries_means() -> None:
    roots = (httpx.HTTPError, httpx.InvalidURL, httpx.CookieConflict, httpx.StreamError)
    assert tree(*roots) == HTTPX.keys()
    assert tree(aiohttp.ClientError) == AIOHTTP.keys()
    of_genai = {e for e in vars(genai).values() if isinstance(e, type) and issubclass(e, Exception)}
    assert of_genai - {ExperimentalWarning} == GENAI.keys()
    named = tree(interactions.GeminiNextGenAPIClientError)
    assert named == STATUSES.keys() | WITHOUT_STATUS.keys()


@contextmanager
def raising(error: Exception, place: str, only: str = "") -> Iterator[None]:
    """aiohttp raises it: while sending a request (to addresses with `only`), or while an answer is
    read."""
    request = aiohttp.ClientSession._request

    async def failing(*args: Any, **more: Any) -> Any:
        raise error

    async def sending(session: aiohttp.ClientSession, how: str, url: Any, **more: Any) -> Any:
        if only in str(url):
            raise error
        return await request(session, how, url, **more)

    with pytest.MonkeyPatch.context() as patch:
        if place == "sending":
            patch.setattr(aiohttp.ClientSession, "_request", sending)
        else:
            patch.setattr(aiohttp.StreamReader, "read", failing)
            patch.setattr(aiohttp.StreamReader, "readany", failing)
        yield


PLACES = pytest.mark.parametrize("place", ["sending", "reading"])


async def became(call: Awaitable[Any], place: str) -> Any:
    """What a caller is told: kind and whether it may be billed, or None for "no such address";
    the latter only of what ended an answer that had begun, whatever that was."""
    with pytest.raises(ModelError) as caught:
        await call
    if isinstance(caught.value, Misconfigured):
        return NOWHERE
    assert isinstance(caught.value, TransientError)
    told = caught.value
    return told.maybe_billed if place == "reading" else (told.kind, told.maybe_billed)


def expected(place: str, *, buying: bool) -> dict[type[Exception], Any]:
    if place == "reading":
        return dict.fromkeys(MEANS, buying)
    return {kind: means and (means[0], means[1] and buying) for kind, means in MEANS.items()}


@PLACES
@pytest.mark.parametrize("judge", [GeminiServer, OpenAiServer])
def test_for_a_judge_s_call_it_is_a_lost_answer(judge: type[ModelServer], place: str) -> None:
    server = judge()

    async def ask(address: str) -> dict[type[Exception], Any]:
        client = client_for(server, address, "test-key")
        found = {}
        for kind in MEANS:
            with raising(made(kind), place):
                found[kind] = await became(client.ask(verify_claims()), place)
        await client.close()
        return found

    with serving(server) as address:
        assert asyncio.run(ask(address)) == expected(place, buying=True)


Use = Callable[[AgentClient], Awaitable[Any]]
AGENTS: dict[str, tuple[str, Callable[[], Handler], str, Use, bool]] = {
    "a report": ("chat", ChatAgentServer, "/v1", lambda c: c.start(question()), True),
    "a stream": ("dashscope", DashScopeServer, "/api/v1", lambda c: c.start(question()), True),
    "a job": ("gemini_deep_research", GeminiJobs, "", lambda c: c.start(question()), True),
    "a look": ("gemini_deep_research", GeminiJobs, "", lambda c: c.poll("job"), False),
    "another look": ("openai_responses", OpenAiJobs, "/v1", lambda c: c.poll("job"), False),
}


@PLACES
@pytest.mark.parametrize("what", AGENTS)
def test_for_an_agent_s_call_it_is_perhaps_billed_where_it_was_buying(
    what: str, place: str
) -> None:
    agent, server, path, use, buying = AGENTS[what]

    async def all_of(client: AgentClient) -> dict[type[Exception], Any]:
        found = {}
        for kind in MEANS:
            with raising(made(kind), place):
                found[kind] = await became(use(client), place)
        return found

    with serving(server()) as address:
        assert using(agent, address + path, all_of) == expected(place, buying=buying)


@PLACES
def test_a_wiki_is_asked_again_unless_its_address_is_none(place: str) -> None:
    async def all_of(wiki: MediaWiki) -> dict[type[Exception], type[Exception]]:
        found: dict[type[Exception], type[Exception]] = {}
        for kind in MEANS:
            with raising(made(kind), place), pytest.raises(WikiError) as caught:
                await wiki.ask(action="query")
            found[kind] = type(caught.value)
        return found

    with scripted() as (script, api):
        found = with_wiki(api, all_of, tries=2)
    refused = {kind for kind, means in MEANS.items() if means is NOWHERE and place == "sending"}
    assert {kind for kind, told in found.items() if told is WikiRefused} == refused
    assert {
        kind for kind, told in found.items() if told is WikiUnreachable
    } == MEANS.keys() - refused
    assert len(script.asked) == (2 * len(MEANS) if place == "reading" else 0)


def test_a_sandbox_s_pages_are_unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline_sandbox, "TRIES", 1)
    for kind in MEANS:

        def failing(*args: Any, kind: type[Exception] = kind) -> Any:
            raise made(kind)

        monkeypatch.setattr(httpx.HTTPTransport, "handle_request", failing)
        with pytest.raises(UnreadableArchive):
            SandboxPages("http://127.0.0.1:9", "").search("lighthouse")


@PLACES
def test_a_page_has_failed_and_is_asked_for_again_where_that_may_heal(place: str) -> None:
    found: dict[type[Exception], Any] = {}
    with serving_pages(lambda asked: [answer(b"page")]) as site:
        for kind in AIOHTTP:
            with raising(made(kind), place, site.place):
                outcome = fetch_beside_an_answer([site.url()], web_settings([site.place]))
            fetched = outcome.fetched.get(site.url())
            found[kind] = (outcome.error, fetched and (fetched.outcome, fetched.tries))
    assert found == {kind: (None, ("failed", tries)) for kind, (_, tries) in AIOHTTP.items()}


def test_for_a_judge_each_error_of_the_sdk_is_one_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask(address: str) -> dict[type[Exception], type[Exception]]:
        client = GeminiClient("test-key", base_url=address, connections=1, timeout_seconds=5)
        found: dict[type[Exception], type[Exception]] = {}
        for kind, (make, _) in GENAI.items():
            sdk = AsyncMock(side_effect=make())
            monkeypatch.setattr("google.genai.errors.APIError.raise_for_async_response", sdk)
            with pytest.raises(ModelError) as caught:
                await client.ask(verify_claims())
            found[kind] = type(caught.value)
        await client.close()
        return found

    with serving(GeminiServer()) as address:
        found = asyncio.run(ask(address))
    assert found == {kind: means for kind, (_, means) in GENAI.items()}


def test_for_an_agent_each_error_of_the_sdk_says_whether_a_report_was_bought() -> None:
    errors: dict[type[Exception], Exception] = {kind: of_status(kind) for kind in STATUSES}
    errors |= {kind: make() for kind, make in WITHOUT_STATUS.items()}

    async def start(client: Any) -> dict[type[Exception], Means]:
        found: dict[type[Exception], Means] = {}
        for kind, error in errors.items():
            client._interactions = SimpleNamespace(create=AsyncMock(side_effect=error))
            with pytest.raises(ModelError) as caught:
                await client.start(question())
            told = caught.value
            found[kind] = (
                (told.kind, told.maybe_billed) if isinstance(told, TransientError) else None
            )
        return found

    means: dict[type[Exception], Means] = {kind: m for kind, (_, m) in STATUSES.items()}
    found = using("gemini_deep_research", "http://127.0.0.1:9", start)
    assert found == means | dict.fromkeys(WITHOUT_STATUS, GARBLED)
