"""xAI's Responses API with web search; it answers in one request.

Its text holds its citations as links (`[[1]](https://…)`), marked by annotations, of which some
come without a place (from 0 to 0); `citations` lists every page the search met, cited or not.
`x_search` finds posts that nobody can fetch without an account: it is used only where `tools` in
an agent's `parameters` name it.
"""

from typing import Any

from tasks.agents.agent import AgentUsage, Answer, Question, Seen, Source, UnreadableAnswer
from tasks.agents.at_once import AtOnce, bearer, messages
from tasks.agents.http import endpoint
from tasks.agents.json_values import amount, child, count, objects, parsed_object, string
from tasks.agents.kinds import Place
from tasks.agents.providers.responses_output import ResponsesOutput, problem_of, read_output
from tasks.configuration.agents import XaiAsk

BASE_URL = "https://api.x.ai/v1"
TICKS_PER_USD = 10_000_000_000
"""`usage.cost_in_usd_ticks`; by others' reckoning against the price list, July 2026."""


class XaiClient:
    """One agent."""

    def __init__(self, agent: str, ask: XaiAsk, key: str | None) -> None:
        self._ask = ask
        self._at = AtOnce(agent, ask, key, endpoint(ask, BASE_URL), bearer(key))

    async def start(self, question: Question) -> Seen:
        answer = await self._at.buy("/responses", request_body(self._ask, question))
        return self._at.seen(string(answer.get("status")) or "answered", answer)

    async def look(self, remote_id: str) -> Seen:
        return await self._at.look(remote_id)

    async def check(self) -> str:
        return await self._at.check_model(self._ask.model)

    async def close(self) -> None:
        await self._at.close()


def open_client(agent: str, ask: XaiAsk, key: str | None, place: Place) -> XaiClient:
    return XaiClient(agent, ask, key)


def request_body(ask: XaiAsk, question: Question) -> dict[str, Any]:
    """What is sent to buy a report, with all that was said before."""
    body = {
        "model": ask.model,
        "input": messages(question),
        "tools": [{"type": "web_search"}],
        "store": False,
    }
    return body | ask.parameters


def read(raw: str) -> Answer:
    """A response.

    Raises:
        UnreadableAnswer: it is none.
    """
    body = parsed_object(raw, "a response of xAI's Responses API")
    if "output" not in body and "status" not in body:
        raise UnreadableAnswer(
            "expected a response of xAI's Responses API with `status` and `output`, got an object "
            f"with {sorted(map(str, body))[:10]}"
        )
    output = read_output(body.get("output"))
    problem = problem_of({"status": "completed"} | body, output)
    return Answer(
        outcome="failed" if problem else "report",
        text=output.text,
        annotations=output.annotations,
        annotated="instead",
        sources=_sources(body.get("citations")),
        trace=output.trace,
        n_reasoning_steps=output.n_reasoning_steps,
        model_version=string(body.get("model")),
        usage=_usage(body.get("usage"), output),
        cost_usd=_cost(body.get("usage")),
        error=problem,
    )


def _sources(said: Any) -> tuple[Source, ...]:
    """Pages the search met: a list of addresses, or of objects with one."""
    listed = said if isinstance(said, list) else []
    addresses = (string(one) or string(child(one, "url")) for one in listed)
    titles = {child(one, "url"): string(child(one, "title")) for one in objects(said)
              if string(child(one, "url"))}  # fmt: skip
    return tuple(Source(url=url, title=titles.get(url)) for url in addresses if url)


def _usage(said: Any, output: ResponsesOutput) -> AgentUsage:
    tokens = count(child(said, "output_tokens"))
    reasoning = count(child(said, "output_tokens_details", "reasoning_tokens"))
    searches = count(child(said, "server_side_tool_usage_details", "web_search_calls"))
    return AgentUsage(
        input_tokens=count(child(said, "input_tokens")),
        cached_tokens=count(child(said, "input_tokens_details", "cached_tokens")),
        output_tokens=None if tokens is None else max(0, tokens - (reasoning or 0)),
        reasoning_tokens=reasoning,
        searches=output.n_searches if searches is None else searches,
    )


def _cost(said: Any) -> float | None:
    ticks = amount(child(said, "cost_in_usd_ticks"))
    return None if ticks is None else ticks / TICKS_PER_USD
