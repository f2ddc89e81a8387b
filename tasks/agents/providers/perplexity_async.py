"""Perplexity's older asynchronous chat completions (Sonar).

A request carries our job id as its `idempotency_key`. According to the provider, the same key
creates no second job, so `repeatable` may be set for such an agent. This client sends it once.
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
from tasks.agents.json_values import child, count, objects, parse_object, string, strings
from tasks.agents.kinds import AgentFolders
from tasks.agents.polled_jobs import PolledJobs
from tasks.agents.providers.perplexity import BASE_URL, UNKNOWN_SOURCE, parse_cost
from tasks.agents.thoughts import split_thoughts
from tasks.configuration.agents import PerplexityAsyncAsk
from tasks.warehouse.traces import SearchStep

END_STATES = frozenset({"COMPLETED", "FAILED"})
"""Jobs in any other state, known (`CREATED`, `IN_PROGRESS`) or not, are polled again."""


class PerplexityAsyncClient:
    """A client of one agent."""

    def __init__(self, agent: str, ask: PerplexityAsyncAsk, key: str | None) -> None:
        self._ask = ask
        self._jobs = PolledJobs(
            agent,
            ask,
            key,
            base_url=get_base_url(ask, BASE_URL),
            path="/async/chat/completions",
            end_states=END_STATES,
        )

    async def start(self, request: JobRequest) -> JobStatus:
        return await self._jobs.start(build_request(self._ask, request))

    async def poll(self, remote_id: str) -> JobStatus:
        return await self._jobs.poll(remote_id)

    async def check(self) -> str:
        return await self._jobs.check_key()

    async def close(self) -> None:
        await self._jobs.close()


def open_client(
    agent: str, ask: PerplexityAsyncAsk, key: str | None, folders: AgentFolders
) -> PerplexityAsyncClient:
    return PerplexityAsyncClient(agent, ask, key)


def build_request(ask: PerplexityAsyncAsk, request: JobRequest) -> dict[str, Any]:
    """Build the request for a report, with the whole conversation."""
    roles = {"user": "user", "agent": "assistant"}
    messages = [
        {"role": roles[message.role], "content": message.text} for message in request.history
    ]
    messages.append({"role": "user", "content": request.prompt})
    completion = {"model": ask.model, "messages": messages} | ask.parameters
    return {"request": completion, "idempotency_key": request.job}


def read(raw: str) -> JobAnswer:
    """Read a request that has ended, with its chat completion.

    Raises:
        UnreadableJobAnswer: `raw` is not such a request.
    """
    body = parse_object(raw, "a request of Perplexity's asynchronous API")
    if "status" not in body:
        raise UnreadableJobAnswer(
            "expected a request of Perplexity's asynchronous API with a `status`, got an object "
            f"with {sorted(map(str, body))[:10]}"
        )
    response = body.get("response")
    choice = next(iter(objects(child(response, "choices"))), {})
    thoughts, text = split_thoughts(_join_content(child(choice, "message", "content")))
    steps = objects(child(choice, "message", "reasoning_steps"))
    problem = _describe_problem(body, choice, text)
    usage = child(response, "usage")
    return JobAnswer(
        outcome="failed" if problem else "report",
        text=text,
        sources=_parse_sources(response),
        trace=_parse_trace(steps),
        n_reasoning_steps=(len(steps) + bool(thoughts)) or None,
        model_version=string(child(response, "model")) or string(body.get("model")),
        usage=AgentUsage(
            input_tokens=count(child(usage, "prompt_tokens")),
            output_tokens=count(child(usage, "completion_tokens")),
            reasoning_tokens=count(child(usage, "reasoning_tokens")),
            citation_tokens=count(child(usage, "citation_tokens")),
            searches=count(child(usage, "num_search_queries")),
        ),
        cost_usd=parse_cost(child(usage, "cost")),
        error=problem,
    )


def _join_content(content: Any) -> str:
    if isinstance(content, list):
        return "".join(string(part.get("text")) or "" for part in objects(content))
    return string(content) or ""


def _describe_problem(body: dict[str, Any], choice: dict[str, Any], text: str) -> str | None:
    """Describe why there is no report; None if there is one."""
    status = string(body.get("status")) or "no status"
    if status != "COMPLETED":
        return ": ".join(filter(None, [status, string(body.get("error_message"))]))
    if choice.get("finish_reason") == "length":
        return "cut at its token limit"
    return None if text.strip() else "COMPLETED, but without text"


def _parse_sources(response: Any) -> tuple[ReportSource, ...]:
    """Return the list that `[n]` refers to, with a placeholder for each unreadable entry."""
    results = child(response, "search_results")
    results = results if isinstance(results, list) else []
    urls = child(response, "citations")
    urls = urls if isinstance(urls, list) else []
    titles = {
        url: string(result.get("title"))
        for result in objects(results)
        if (url := string(result.get("url")))
    }
    listed = [child(result, "url") for result in results] if len(results) >= len(urls) else urls
    return tuple(
        ReportSource(url=url, title=titles.get(url)) if string(url) else UNKNOWN_SOURCE
        for url in listed
    )


def _parse_trace(steps: list[dict[str, Any]]) -> tuple[SearchStep, ...]:
    """Return the searches and the pages read in its reasoning steps."""
    trace: list[SearchStep] = []
    for step in steps:
        words = strings(child(step, "web_search", "search_keywords"))
        trace += [SearchStep(query=query) for query in words]
        pages = objects(child(step, "fetch_url_content", "contents"))
        opened = tuple(filter(None, (string(page.get("url")) for page in pages)))
        if opened:
            trace.append(SearchStep(opened=opened))
    return tuple(trace)
