"""The vendors' own SDKs talk to the job servers and parse their answers into typed objects.

Google's is the one that our client has: see tests/tasks/agents/kinds/test_gemini_deep_research.py.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.servers.job_gemini import GeminiJobs
from tests.servers.job_openai import OpenAiJobs
from tests.servers.job_perplexity import PerplexityJobs
from tests.servers.job_reports import default_report, passages
from tests.servers.jobs import JobScript, JobServer
from tests.servers.serving import serving

if TYPE_CHECKING:  # the SDKs take seconds to import: those that use them do
    import openai
    import perplexity
    from openai.types.responses import Response

PROMPT = "Write about Ærø."
AGENT = "deep-research-preview-04-2026"
URLS = [passage.url for passage in passages(default_report(PROMPT)) if passage.url]
EVERY = pytest.mark.parametrize("kind", [GeminiJobs, OpenAiJobs, PerplexityJobs])
BODIES: dict[type[JobServer], dict[str, Any]] = {
    GeminiJobs: {"agent": AGENT, "input": PROMPT, "background": True,
                 "agent_config": {"type": "deep-research"}},
    OpenAiJobs: {"model": "m", "input": PROMPT, "background": True},
    PerplexityJobs: {"effort": "high", "input": PROMPT, "background": True},
}  # fmt: skip
PATHS: dict[type[Any], str] = {
    GeminiJobs: "/v1/interactions",
    OpenAiJobs: "/v1/responses",
    PerplexityJobs: "/v1/responses",
}
HEADERS = {"x-goog-api-key": "test-key", "Authorization": "Bearer test-key"}


def with_openai(
    server: OpenAiJobs, use: "Callable[[openai.AsyncOpenAI], Awaitable[Any]]", key: str = "test-key"
) -> Any:
    import openai

    async def run(address: str) -> Any:
        url = f"{address}/v1"
        async with openai.AsyncOpenAI(api_key=key, base_url=url, max_retries=0) as client:
            return await use(client)

    with serving(server) as address:
        return asyncio.run(run(address))


def with_perplexity(
    server: OpenAiJobs, use: "Callable[[perplexity.AsyncPerplexity], Awaitable[Any]]"
) -> Any:
    import perplexity

    async def run(address: str) -> Any:
        async with perplexity.AsyncPerplexity(
            api_key="test-key", base_url=address, max_retries=0
        ) as client:
            return await use(client)

    with serving(server) as address:
        return asyncio.run(run(address))


def test_openai_reads_a_background_response_with_its_searches_and_citations() -> None:
    from openai.types.responses import ResponseFunctionWebSearch, ResponseOutputMessage

    async def use(client: "openai.AsyncOpenAI") -> "list[Response]":
        found = [
            await client.responses.create(
                model="gpt-5.5", input=PROMPT, background=True, store=True,
                metadata={"evergreen_job": "j1"}, tools=[{"type": "web_search"}],
            )
        ]  # fmt: skip
        while found[-1].status not in ("completed", "failed"):
            found.append(await client.responses.retrieve(found[0].id))
        return found

    server = OpenAiJobs(JobScript(polls=2))
    *under_way, last = with_openai(server, use)
    assert [response.status for response in under_way] == ["queued", "in_progress"]
    assert last.status == "completed"
    message = last.output[-1]
    assert isinstance(message, ResponseOutputMessage)
    part = message.content[0]
    assert part.type == "output_text"
    assert [a.type for a in part.annotations] == ["url_citation"] * len(URLS)
    covered = [
        part.text[a.start_index : a.end_index] for a in part.annotations if a.type == "url_citation"
    ]
    assert covered[1] == "([example.com](https://example.com/tokyo?lang=ja&utm_source=openai))"
    assert isinstance(last.output[1], ResponseFunctionWebSearch)
    assert last.usage
    assert last.usage.output_tokens_details.reasoning_tokens == 2_000
    assert [job.name for job in server.jobs.values()] == ["j1"]


def test_openai_knows_the_models_and_refusals_by_their_kind() -> None:
    import openai

    async def use(client: "openai.AsyncOpenAI") -> str:
        model = await client.models.retrieve("gpt-5.5")
        with pytest.raises(openai.NotFoundError):
            await client.models.retrieve("gpt-0")
        with pytest.raises(openai.NotFoundError):
            await client.responses.retrieve("resp_none")
        with pytest.raises(openai.RateLimitError) as refused:
            await client.responses.create(model="gpt-5.5", input=PROMPT, background=True)
        assert refused.value.response.headers["retry-after"] == "1"
        return model.id

    script = JobScript(posts=("rate_limit_retry_after",))
    assert with_openai(OpenAiJobs(script, models=["gpt-5.5"]), use) == "gpt-5.5"


def test_perplexity_reads_an_agent_response_with_its_results_and_cost() -> None:
    async def use(client: "perplexity.AsyncPerplexity") -> Any:
        made = await client.responses.create(
            input=PROMPT, background=True, extra_body={"effort": "high"}
        )
        assert made.status == "queued"
        return await client.responses.retrieve(made.id)

    found = with_perplexity(PerplexityJobs(), use)
    assert found.status == "completed"
    results = [r for item in found.output if item.type == "search_results" for r in item.results]
    assert sorted(result.id for result in results) == [1, 2, 3]
    message = found.output[-1]
    assert "[1]" in message.content[0].text
    assert found.usage.cost.total_cost == 0.415
    assert found.usage.tool_calls_details["web_search"].invocation == 7


def post(server: JobServer, address: str) -> httpx.Response:
    kind = type(server)
    return httpx.post(address + PATHS[kind], json=BODIES[kind], headers=HEADERS)


@EVERY
def test_a_job_whose_reply_is_lost_was_made_and_a_second_one_is_counted(
    kind: type[JobServer],
) -> None:
    server = kind(JobScript(posts=("lost", "unavailable_503", "made_500")))
    with serving(server) as address:
        with pytest.raises(httpx.TransportError):
            post(server, address)
        assert post(server, address).status_code == 503
        assert (server.n_made, server.n_bought_again) == (1, 0)
        assert post(server, address).status_code == 500
        assert server.n_bought_again == 1


@EVERY
def test_no_job_is_made_for_a_wrong_key(kind: type[JobServer]) -> None:
    server = kind(key="another")
    with serving(server) as address:
        assert post(server, address).status_code in (400, 401)
    assert server.n_made == 0
