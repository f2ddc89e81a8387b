"""Perplexity's older asynchronous chat completions (Sonar).

A request carries our name for the job as its `idempotency_key`: by the provider's word the same
key makes no second job, so `repeatable` may be set for such an agent. Here it is still sent once.
"""

from typing import Any

from tasks.agents.agent import AgentUsage, Answer, Question, Seen, Source, UnreadableAnswer
from tasks.agents.http import endpoint
from tasks.agents.json_values import child, count, objects, parsed_object, string, strings
from tasks.agents.kinds import Place
from tasks.agents.polled import PolledJobs
from tasks.agents.providers.perplexity import BASE_URL, NO_SOURCE, cost_usd
from tasks.agents.thoughts import without_thoughts
from tasks.configuration.agents import PerplexityAsyncAsk
from tasks.warehouse.traces import SearchStep

ENDS = frozenset({"COMPLETED", "FAILED"})
"""Every other word, known (`CREATED`, `IN_PROGRESS`) or not, is waited for."""


class PerplexityAsyncClient:
    """One agent."""

    def __init__(self, agent: str, ask: PerplexityAsyncAsk, key: str | None) -> None:
        self._ask = ask
        self._jobs = PolledJobs(
            agent,
            ask,
            key,
            base_url=endpoint(ask, BASE_URL),
            path="/async/chat/completions",
            ends=ENDS,
        )

    async def start(self, question: Question) -> Seen:
        return await self._jobs.start(request_body(self._ask, question))

    async def look(self, remote_id: str) -> Seen:
        return await self._jobs.look(remote_id)

    async def check(self) -> str:
        return await self._jobs.check_key()

    async def close(self) -> None:
        await self._jobs.close()


def open_client(
    agent: str, ask: PerplexityAsyncAsk, key: str | None, place: Place
) -> PerplexityAsyncClient:
    return PerplexityAsyncClient(agent, ask, key)


def request_body(ask: PerplexityAsyncAsk, question: Question) -> dict[str, Any]:
    """What is sent to buy a report, with all that was said before."""
    roles = {"user": "user", "agent": "assistant"}
    messages = [{"role": roles[turn.role], "content": turn.text} for turn in question.earlier]
    messages.append({"role": "user", "content": question.prompt})
    request = {"model": ask.model, "messages": messages} | ask.parameters
    return {"request": request, "idempotency_key": question.job}


def read(raw: str) -> Answer:
    """A request that has ended, with the chat completion in it.

    Raises:
        UnreadableAnswer: it is none.
    """
    body = parsed_object(raw, "a request of Perplexity's asynchronous API")
    if "status" not in body:
        raise UnreadableAnswer(
            "expected a request of Perplexity's asynchronous API with a `status`, got an object "
            f"with {sorted(map(str, body))[:10]}"
        )
    response = body.get("response")
    choice = next(iter(objects(child(response, "choices"))), {})
    thoughts, text = without_thoughts(_content(child(choice, "message", "content")))
    steps = objects(child(choice, "message", "reasoning_steps"))
    problem = _problem(body, choice, text)
    said = child(response, "usage")
    return Answer(
        outcome="failed" if problem else "report",
        text=text,
        sources=_sources(response),
        trace=_trace(steps),
        n_reasoning_steps=(len(steps) + bool(thoughts)) or None,
        model_version=string(child(response, "model")) or string(body.get("model")),
        usage=AgentUsage(
            input_tokens=count(child(said, "prompt_tokens")),
            output_tokens=count(child(said, "completion_tokens")),
            reasoning_tokens=count(child(said, "reasoning_tokens")),
            citation_tokens=count(child(said, "citation_tokens")),
            searches=count(child(said, "num_search_queries")),
        ),
        cost_usd=cost_usd(child(said, "cost")),
        error=problem,
    )


def _content(said: Any) -> str:
    if isinstance(said, list):
        return "".join(string(part.get("text")) or "" for part in objects(said))
    return string(said) or ""


def _problem(body: dict[str, Any], choice: dict[str, Any], text: str) -> str | None:
    """Why there is no report, in words; None where there is one."""
    status = string(body.get("status")) or "no status"
    if status != "COMPLETED":
        return ": ".join(filter(None, [status, string(body.get("error_message"))]))
    if choice.get("finish_reason") == "length":
        return "cut at its limit of tokens"
    return None if text.strip() else "COMPLETED, but without a text"


def _sources(response: Any) -> tuple[Source, ...]:
    """The list that `[n]` refers to. An entry that cannot be read keeps its place."""
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
        Source(url=url, title=titles.get(url)) if string(url) else NO_SOURCE for url in listed
    )


def _trace(steps: list[dict[str, Any]]) -> tuple[SearchStep, ...]:
    """What its reasoning steps searched for, and which pages they read."""
    trace: list[SearchStep] = []
    for step in steps:
        words = strings(child(step, "web_search", "search_keywords"))
        trace += [SearchStep(query=query) for query in words]
        pages = objects(child(step, "fetch_url_content", "contents"))
        opened = tuple(filter(None, (string(page.get("url")) for page in pages)))
        if opened:
            trace.append(SearchStep(opened=opened))
    return tuple(trace)
