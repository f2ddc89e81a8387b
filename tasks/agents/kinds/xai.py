"""xAI's Responses API with web search; it answers in one request.

The text contains citations as links (`[[1]](https://…)`), marked by annotations, some without a
position (0 to 0). `citations` lists every page that the search found, cited or not. `x_search`
finds posts that cannot be fetched without an account: it is only used if `tools` in an agent's
`parameters` name it.
"""

from typing import Literal

from tasks.agents.agent import JobAnswer, JobRequest, JobStatus
from tasks.agents.kind import AgentKind, ApiAsk
from tasks.agents.wire.answers import amount, child, count, parse_sources, string
from tasks.agents.wire.http import SynchronousClient
from tasks.agents.wire.responses_output import build_answer, parse_response, parse_usage

TICKS_PER_USD = 10_000_000_000
"""The unit of `usage.cost_in_usd_ticks`, as others inferred it from the price list in July 2026."""


class XaiAsk(ApiAsk):
    provider_url = "https://api.x.ai/v1"
    kind: Literal["xai"]
    """xAI's Responses API with web search; answers in one request."""


class XaiClient(SynchronousClient):
    async def start(self, request: JobRequest) -> JobStatus:
        body = {
            "model": self.ask.model,
            "input": request.chat_messages(),
            "tools": [{"type": "web_search"}],
            "store": False,
        }
        answer = await self.buy_object("/responses", body | self.ask.parameters)
        return self.ended_status(string(answer.get("status")) or "answered", answer)


def read(raw: str) -> JobAnswer:
    """Read a response.

    Raises:
        UnreadableJobAnswer: `raw` is not a response.
    """
    body, output = parse_response(raw, "a response of xAI's Responses API")
    usage = body.get("usage")
    ticks = amount(child(usage, "cost_in_usd_ticks"))
    searches = count(child(usage, "server_side_tool_usage_details", "web_search_calls"))
    return build_answer(
        {"status": "completed"} | body,
        output,
        marker_placement="instead",
        sources=tuple(one for one in parse_sources(None, body.get("citations")) if one.url),
        usage=parse_usage(usage, output.n_searches if searches is None else searches),
        cost_usd=None if ticks is None else ticks / TICKS_PER_USD,
    )


KIND = AgentKind(XaiAsk, XaiClient, read)
