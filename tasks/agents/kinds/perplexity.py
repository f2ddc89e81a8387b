"""Perplexity's Agent API, in the background.

It is a Responses API with additional items: searches and their results (`search_results`), and the
pages read (`fetch_url_results`). `[n]` in the text is the result whose `id` is n. An `effort` is a
model with instructions and tools that Perplexity changes without notice; `model_version` records
the model that answered.
"""

from collections.abc import Iterator
from typing import Any, Literal

from tasks.agents.agent import AgentUsage, JobAnswer, JobRequest, ReportSource
from tasks.agents.kind import AgentKind, ApiAsk
from tasks.agents.wire.answers import (
    MAX_SOURCES,
    SearchAction,
    build_trace,
    child,
    count,
    list_numbered,
    list_urls,
    objects,
    parse_cost,
    string,
    strings,
)
from tasks.agents.wire.http import CONFIGURED_IN
from tasks.agents.wire.polled_jobs import PolledClient
from tasks.agents.wire.responses_output import build_answer, describe_problem, parse_response
from tasks.models.answer_metadata import count_cache_writes
from tasks.models.errors import Misconfigured

CONFIGURATIONS = ("effort", "preset")
"""Parameters that bring a model; the second is deprecated."""
MODEL_PARAMETERS = ("model", "models", *CONFIGURATIONS)


class PerplexityAsk(ApiAsk):
    provider_url = "https://api.perplexity.ai"
    kind: Literal["perplexity"]
    """Perplexity's Agent API; `model` may be empty if `parameters` name an `effort`."""


class PerplexityClient(PolledClient[ApiAsk]):
    path = "/v1/responses"
    end_states = frozenset({"completed", "failed", "cancelled", "incomplete", "requires_action"})

    def __init__(self, agent: str, ask: ApiAsk, key: str | None) -> None:
        """Create the client.

        Raises:
            Misconfigured: the entry names neither a model nor an effort.
        """
        if not ask.model and not any(ask.parameters.get(name) for name in MODEL_PARAMETERS):
            raise Misconfigured(
                f"{agent}: name a `model`, or an `effort` among its `parameters`, in "
                f"{CONFIGURED_IN}."
            )
        super().__init__(agent, ask, key)

    def build_request(self, request: JobRequest) -> dict[str, Any]:
        """Build the request for a report.

        It holds the whole conversation: the SDK has a reference to the previous response, but its
        documentation says that it is ignored so far.
        """
        body: dict[str, Any] = {"input": request.prompt, "background": True}
        if request.history:
            body["input"] = [{"type": "message", **m} for m in request.chat_messages()]
        if self.ask.model and not any(map(self.ask.parameters.get, CONFIGURATIONS)):
            body["model"] = self.ask.model
        return body | self.ask.parameters


def read(raw: str) -> JobAnswer:
    """Read a response that has ended.

    Raises:
        UnreadableJobAnswer: `raw` is not a response.
    """
    body, output = parse_response(raw, "a response of Perplexity's Agent API")
    items = objects(body.get("output"))
    problem = describe_problem(body, output)
    outcome = "failed" if problem else "report"
    if body.get("status") == "requires_action" and output.text.strip():
        outcome, problem = "question", None
    return build_answer(
        body,
        output,
        outcome=outcome,
        sources=list_sources(items),
        trace=build_trace(_list_actions(items)),
        n_reasoning_steps=output.n_reasoning_steps or None,  # usually none are listed
        usage=_parse_usage(body.get("usage"), items),
        cost_usd=parse_cost(child(body, "usage", "cost")),
        error=problem,
    )


def list_sources(items: list[dict[str, Any]]) -> tuple[ReportSource, ...]:
    """Return the list that `[n]` refers to: results by `id`, the last one of equal ids (as in the
    provider's examples); in their order if any has no id."""
    results = [
        result
        for item in items
        if item.get("type") == "search_results"
        for result in objects(item.get("results"))
    ]
    numbers = [count(result.get("id")) for result in results]
    if not all(numbers):
        numbers = [*range(1, len(results) + 1)]
    by_number = {
        number: ReportSource(url=url, title=string(result.get("title")))
        for number, result in zip(numbers, results, strict=True)
        if number and number <= MAX_SOURCES and (url := string(result.get("url")))
    }
    return list_numbered(by_number)


def _list_actions(items: list[dict[str, Any]]) -> Iterator[SearchAction]:
    """Yield the searches and the pages read."""
    for item in items:
        if item.get("type") == "search_results":
            yield strings(item.get("queries")), list_urls(item.get("results")), []
        elif item.get("type") == "fetch_url_results":
            yield [], [], list_urls(item.get("contents"))


def _parse_usage(usage: Any, items: list[dict[str, Any]]) -> AgentUsage:
    return AgentUsage(
        input_tokens=count(child(usage, "input_tokens")),
        cached_tokens=count(child(usage, "input_tokens_details", "cache_read_input_tokens")),
        output_tokens=count(child(usage, "output_tokens")),
        searches=_count_searches(child(usage, "tool_calls_details"), items),
        **count_cache_writes(usage),
    )


def _count_searches(calls: Any, items: list[dict[str, Any]]) -> int | None:
    """Return the number of searches: those billed, else those listed."""
    if isinstance(calls, dict):
        billed = [
            count(child(call, "invocation"))
            for name, call in calls.items()
            if "search" in str(name)
        ]
        if billed and None not in billed:
            return count(sum(filter(None, billed)))
    listed = sum(item.get("type") == "search_results" for item in items)
    return listed or None


KIND = AgentKind(PerplexityAsk, PerplexityClient, read)
