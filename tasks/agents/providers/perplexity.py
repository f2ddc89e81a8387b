"""Perplexity's Agent API, in the background.

It has the form of a Responses API with items of its own: what was searched and found
(`search_results`), and which pages were read (`fetch_url_results`). `[n]` in the text is the
result whose `id` is n. A preset is a model with instructions and tools, chosen by Perplexity and
changed without notice: `model_version` keeps what answered.
"""

from typing import Any, Literal

from tasks.agents.agent import AgentUsage, Answer, Question, Seen, Source, UnreadableAnswer
from tasks.agents.http import CONFIGURED_IN, endpoint
from tasks.agents.json_values import amount, child, count, objects, parsed_object, string, strings
from tasks.agents.kinds import Place
from tasks.agents.polled import PolledJobs
from tasks.agents.providers.responses_output import ResponsesOutput, problem_of, read_output
from tasks.configuration.agents import PerplexityAsk
from tasks.models.errors import Misconfigured
from tasks.warehouse.traces import SearchStep

BASE_URL = "https://api.perplexity.ai"
ENDS = frozenset({"completed", "failed", "cancelled", "incomplete", "requires_action"})
Outcome = Literal["report", "question", "failed"]
WHO_ANSWERS = ("model", "models", "preset")
MOST_SOURCES = 10_000
"""A result with a higher number is left out: the list would be nearly empty."""
NO_SOURCE = Source(url="")
"""Keeps the place of a number that no result has."""


class PerplexityClient:
    """One agent."""

    def __init__(self, agent: str, ask: PerplexityAsk, key: str | None) -> None:
        self._ask = ask
        self._jobs = PolledJobs(
            agent, ask, key, base_url=endpoint(ask, BASE_URL), path="/v1/responses", ends=ENDS
        )

    async def start(self, question: Question) -> Seen:
        return await self._jobs.start(request_body(self._ask, question))

    async def look(self, remote_id: str) -> Seen:
        return await self._jobs.look(remote_id)

    async def check(self) -> str:
        return await self._jobs.check_key()

    async def close(self) -> None:
        await self._jobs.close()


def open_client(agent: str, ask: PerplexityAsk, key: str | None, place: Place) -> PerplexityClient:
    """Raises:
    Misconfigured: neither a model nor a preset is named.
    """
    if not ask.model and not any(ask.parameters.get(name) for name in WHO_ANSWERS):
        raise Misconfigured(
            f"{agent}: name a `model`, or a `preset` among its `parameters`, in {CONFIGURED_IN}."
        )
    return PerplexityClient(agent, ask, key)


def request_body(ask: PerplexityAsk, question: Question) -> dict[str, Any]:
    """What is sent to buy a report.

    Earlier turns are sent along: a reference to the response before exists in the SDK, but is
    said not to be followed yet.
    """
    body: dict[str, Any] = {"input": question.prompt, "background": True}
    if question.earlier:
        roles = {"user": "user", "agent": "assistant"}
        turns = [(roles[turn.role], turn.text) for turn in question.earlier]
        body["input"] = [
            {"type": "message", "role": role, "content": text}
            for role, text in [*turns, ("user", question.prompt)]
        ]
    if ask.model and not ask.parameters.get("preset"):
        body["model"] = ask.model
    return body | ask.parameters


def read(raw: str) -> Answer:
    """A response that has ended.

    Raises:
        UnreadableAnswer: it is no response.
    """
    body = parsed_object(raw, "a response of Perplexity's Agent API")
    if "status" not in body and "output" not in body:
        raise UnreadableAnswer(
            "expected a response of Perplexity's Agent API with `status` and `output`, got an "
            f"object with {sorted(map(str, body))[:10]}"
        )
    items = objects(body.get("output"))
    output = read_output(body.get("output"))
    outcome, problem = _outcome(body, output)
    return Answer(
        outcome=outcome,
        text=output.text,
        annotations=output.annotations,
        sources=sources_by_number(items),
        trace=_trace(items),
        n_reasoning_steps=output.n_reasoning_steps or None,  # it lists none, as a rule
        model_version=string(body.get("model")),
        usage=_usage(body.get("usage"), items),
        cost_usd=cost_usd(child(body, "usage", "cost")),
        error=problem,
    )


def sources_by_number(items: list[dict[str, Any]]) -> tuple[Source, ...]:
    """The list that `[n]` refers to: by the results' `id`s, the last one where an id comes twice
    (as the provider's own examples read them); in their order where not all have one."""
    results = [
        result
        for item in items
        if item.get("type") == "search_results"
        for result in objects(item.get("results"))
    ]
    numbers = [count(result.get("id")) for result in results]
    if not all(numbers):
        numbers = [*range(1, len(results) + 1)]
    named = {
        number: Source(url=url, title=string(result.get("title")))
        for number, result in zip(numbers, results, strict=True)
        if number and number <= MOST_SOURCES and (url := string(result.get("url")))
    }
    return tuple(named.get(number, NO_SOURCE) for number in range(1, max(named, default=0) + 1))


def cost_usd(said: Any) -> float | None:
    """What the interface says a report cost; None where it says it in other money."""
    if child(said, "currency") not in (None, "USD"):
        return None
    return amount(child(said, "total_cost"))


def _outcome(body: dict[str, Any], output: ResponsesOutput) -> tuple[Outcome, str | None]:
    """What became of it, and why there is no report."""
    problem = problem_of(body, output)
    if body.get("status") == "requires_action" and output.text.strip():
        return "question", None
    return ("failed", problem) if problem else ("report", None)


def _trace(items: list[dict[str, Any]]) -> tuple[SearchStep, ...]:
    """Searches and the pages read; a page follows from the search that found it."""
    steps: list[SearchStep] = []
    found_by: dict[str, int] = {}
    for item in items:
        if item.get("type") == "search_results":
            queries = strings(item.get("queries"))
            steps += [SearchStep(query=query) for query in queries]
            for result in objects(item.get("results")) if queries else ():
                if url := string(result.get("url")):
                    found_by.setdefault(url, len(steps) - 1)
        elif item.get("type") == "fetch_url_results":
            for page in objects(item.get("contents")):
                if url := string(page.get("url")):
                    steps.append(SearchStep(opened=(url,), parent=found_by.get(url)))
    return tuple(steps)


def _usage(said: Any, items: list[dict[str, Any]]) -> AgentUsage:
    return AgentUsage(
        input_tokens=count(child(said, "input_tokens")),
        cached_tokens=count(child(said, "input_tokens_details", "cache_read_input_tokens")),
        output_tokens=count(child(said, "output_tokens")),
        searches=_searches(child(said, "tool_calls_details"), items),
    )


def _searches(calls: Any, items: list[dict[str, Any]]) -> int | None:
    """How often it searched: as it is billed, else as many as it lists."""
    if isinstance(calls, dict):
        billed = [
            count(child(of, "invocation")) for name, of in calls.items() if "search" in str(name)
        ]
        if billed and None not in billed:
            return count(sum(filter(None, billed)))
    listed = sum(item.get("type") == "search_results" for item in items)
    return listed or None
