"""xAI's Responses API with web search; it answers in one request.

The text contains citations as links (`[[1]](https://…)`), marked by annotations, some without a
position (0 to 0). `citations` lists every page that the search found, cited or not. `x_search`
finds posts that cannot be fetched without an account: it is only used if `tools` in an agent's
`parameters` name it.
"""

from typing import Any

from tasks.agents.agent import (
    AgentUsage,
    JobAnswer,
    JobRequest,
    JobStatus,
    ReportSource,
    UnreadableJobAnswer,
)
from tasks.agents.http import get_base_url
from tasks.agents.json_values import amount, child, count, objects, parse_object, string
from tasks.agents.kinds import AgentFolders
from tasks.agents.providers.responses_output import ResponsesOutput, describe_problem, parse_output
from tasks.agents.synchronous_api import SynchronousApi, bearer_header, build_messages
from tasks.configuration.agents import XaiAsk

BASE_URL = "https://api.x.ai/v1"
TICKS_PER_USD = 10_000_000_000
"""The unit of `usage.cost_in_usd_ticks`, as others inferred it from the price list in July 2026."""


class XaiClient:
    """A client of one agent."""

    def __init__(self, agent: str, ask: XaiAsk, key: str | None) -> None:
        self._ask = ask
        self._api = SynchronousApi(agent, ask, key, get_base_url(ask, BASE_URL), bearer_header(key))

    async def start(self, request: JobRequest) -> JobStatus:
        answer = await self._api.buy("/responses", build_request(self._ask, request))
        return self._api.ended_status(string(answer.get("status")) or "answered", answer)

    async def poll(self, remote_id: str) -> JobStatus:
        return await self._api.poll(remote_id)

    async def check(self) -> str:
        return await self._api.check_model(self._ask.model)

    async def close(self) -> None:
        await self._api.close()


def open_client(agent: str, ask: XaiAsk, key: str | None, folders: AgentFolders) -> XaiClient:
    return XaiClient(agent, ask, key)


def build_request(ask: XaiAsk, request: JobRequest) -> dict[str, Any]:
    """Build the request for a report, with the whole conversation."""
    body = {
        "model": ask.model,
        "input": build_messages(request),
        "tools": [{"type": "web_search"}],
        "store": False,
    }
    return body | ask.parameters


def read(raw: str) -> JobAnswer:
    """Read a response.

    Raises:
        UnreadableJobAnswer: `raw` is not a response.
    """
    body = parse_object(raw, "a response of xAI's Responses API")
    if "output" not in body and "status" not in body:
        raise UnreadableJobAnswer(
            "expected a response of xAI's Responses API with `status` and `output`, got an object "
            f"with {sorted(map(str, body))[:10]}"
        )
    output = parse_output(body.get("output"))
    problem = describe_problem({"status": "completed"} | body, output)
    return JobAnswer(
        outcome="failed" if problem else "report",
        text=output.text,
        annotations=output.annotations,
        marker_placement="instead",
        sources=_parse_sources(body.get("citations")),
        trace=output.trace,
        n_reasoning_steps=output.n_reasoning_steps,
        model_version=string(body.get("model")),
        usage=_parse_usage(body.get("usage"), output),
        cost_usd=_parse_cost(body.get("usage")),
        error=problem,
    )


def _parse_sources(citations: Any) -> tuple[ReportSource, ...]:
    """Return the pages that the search found, from a list of addresses or of objects."""
    listed = citations if isinstance(citations, list) else []
    addresses = (string(one) or string(child(one, "url")) for one in listed)
    titles = {child(one, "url"): string(child(one, "title")) for one in objects(citations)
              if string(child(one, "url"))}  # fmt: skip
    return tuple(ReportSource(url=url, title=titles.get(url)) for url in addresses if url)


def _parse_usage(usage: Any, output: ResponsesOutput) -> AgentUsage:
    tokens = count(child(usage, "output_tokens"))
    reasoning = count(child(usage, "output_tokens_details", "reasoning_tokens"))
    searches = count(child(usage, "server_side_tool_usage_details", "web_search_calls"))
    return AgentUsage(
        input_tokens=count(child(usage, "input_tokens")),
        cached_tokens=count(child(usage, "input_tokens_details", "cached_tokens")),
        output_tokens=None if tokens is None else max(0, tokens - (reasoning or 0)),
        reasoning_tokens=reasoning,
        searches=output.n_searches if searches is None else searches,
    )


def _parse_cost(cost: Any) -> float | None:
    ticks = amount(child(cost, "cost_in_usd_ticks"))
    return None if ticks is None else ticks / TICKS_PER_USD
