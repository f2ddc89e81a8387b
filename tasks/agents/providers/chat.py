"""Any endpoint with OpenAI's chat completions; it answers in one request.

Each request holds the whole conversation. The extensions of gateways and providers are read where
present: `annotations` of the message, `citations` and `search_results` of the body, thoughts in a
separate field or in `<think>`, and the cost in `usage.cost`.
"""

from collections.abc import Iterator
from typing import Any

from tasks.agents.agent import (
    AgentUsage,
    Annotation,
    Gone,
    JobAnswer,
    JobRequest,
    JobStatus,
    ReportSource,
    UnreadableJobAnswer,
)
from tasks.agents.http import CONFIGURED_IN, get_base_url
from tasks.agents.json_values import amount, child, count, objects, parse_object, string
from tasks.agents.kinds import AgentFolders
from tasks.agents.synchronous_api import (
    SynchronousApi,
    bearer_header,
    build_messages,
    unknown_model_error,
)
from tasks.agents.thoughts import split_thoughts
from tasks.configuration.agents import ChatAsk
from tasks.models.errors import Misconfigured, RequestRejected, TransientError

BASE_URL = "https://api.openai.com/v1"
UNKNOWN_SOURCE = ReportSource(url="")
"""A placeholder for an unreadable entry, so that the numbers after it stay right."""
CUT_REASONS = {
    "length": "cut at its token limit",
    "content_filter": "stopped by the provider's content filter",
}


class ChatClient:
    """A client of one agent."""

    def __init__(self, agent: str, ask: ChatAsk, key: str | None) -> None:
        self._ask = ask
        self._api = SynchronousApi(agent, ask, key, get_base_url(ask, BASE_URL), bearer_header(key))

    async def start(self, request: JobRequest) -> JobStatus:
        answer = await self._api.buy("/chat/completions", build_request(self._ask, request))
        choice = next(iter(objects(answer.get("choices"))), None)
        return self._api.ended_status(string(child(choice, "finish_reason")) or "answered", answer)

    async def poll(self, remote_id: str) -> JobStatus:
        return await self._api.poll(remote_id)

    async def check(self) -> str:
        """Look the model up in the free list of models; if there is no list, buy one token."""
        api, model = self._api, self._ask.model
        try:
            catalogue = await api.get("/models")
        except (Gone, RequestRejected):
            return await self._check_by_request()
        names = {name for entry in objects(child(catalogue, "data")) if (name := entry.get("id"))}
        if names and model not in names:
            known = ", ".join(sorted(map(str, names))[:20])
            raise unknown_model_error(api.agent, api.base_url, model, f"it lists {known}")
        return f"{api.agent}: {api.base_url} answers and knows the model {model}."

    async def close(self) -> None:
        await self._api.close()

    async def _check_by_request(self) -> str:
        api, model = self._api, self._ask.model
        message = {"role": "user", "content": "Say OK."}
        try:
            answer = await api.buy(
                "/chat/completions", {"model": model, "messages": [message], "max_tokens": 1}
            )
        except RequestRejected as error:
            raise Misconfigured(
                f"{api.agent}: {api.base_url} refuses a request to {model!r} ({error}). Check "
                f"`model`, `base_url` and `parameters` in {CONFIGURED_IN}."
            ) from None
        except TransientError as error:
            raise api.explain(error) from None
        if not objects(answer.get("choices")):
            raise Misconfigured(
                f"{api.agent}: {api.base_url} does not answer as a chat completions endpoint. "
                f"Check `base_url` in {CONFIGURED_IN}."
            )
        return f"{api.agent}: {api.base_url} answers as the model {model} (one token was bought)."


def open_client(agent: str, ask: ChatAsk, key: str | None, folders: AgentFolders) -> ChatClient:
    return ChatClient(agent, ask, key)


def build_request(ask: ChatAsk, request: JobRequest) -> dict[str, Any]:
    """Build the request for a report, with the whole conversation."""
    return {"model": ask.model, "messages": build_messages(request)} | ask.parameters


def read(raw: str) -> JobAnswer:
    """Read a chat completion.

    Raises:
        UnreadableJobAnswer: `raw` is not a chat completion.
    """
    body = parse_object(raw, "a chat completion")
    choice = next(iter(objects(body.get("choices"))), None)
    if choice is None and body.get("error") is None:
        raise UnreadableJobAnswer(
            "expected a chat completion with `choices`, got an object with "
            f"{sorted(map(str, body))[:10]}"
        )
    message = child(choice, "message")
    whole = _join_content(child(message, "content"))
    thoughts, text = split_thoughts(whole)
    has_thoughts = bool(thoughts or _find_thoughts(message))
    problem = _describe_problem(body, choice, text)
    return JobAnswer(
        outcome="failed" if problem else "report",
        text=text,
        annotations=tuple(_parse_annotations(message, len(whole) - len(text))),
        marker_placement="instead",
        sources=_parse_sources(body, message),
        n_reasoning_steps=int(has_thoughts) or None,
        model_version=string(body.get("model")),
        usage=_parse_usage(body.get("usage")),
        cost_usd=_parse_cost(child(body.get("usage"), "cost")),
        error=problem,
    )


def _join_content(content: Any) -> str:
    if isinstance(content, list):
        return "".join(string(part.get("text")) or "" for part in objects(content))
    return string(content) or ""


def _find_thoughts(message: Any) -> str | None:
    return string(child(message, "reasoning_content")) or string(child(message, "reasoning"))


def _describe_problem(body: dict[str, Any], choice: Any, text: str) -> str | None:
    """Describe why there is no report; None if there is one."""
    error = body.get("error") or child(choice, "error")
    if error:
        return string(child(error, "message")) or string(error) or "the endpoint reports `error`"
    if refused := string(child(choice, "message", "refusal")):
        return f"refused: {refused}"
    reason = string(child(choice, "finish_reason"))
    if reason in CUT_REASONS:
        return CUT_REASONS[reason]
    return None if text.strip() else f"ended ({reason or 'no reason given'}) without text"


def _parse_annotations(message: Any, before: int) -> Iterator[Annotation]:
    """Yield the citations. before: the length of the thoughts before the text."""
    for entry in objects(child(message, "annotations")):
        nested = child(entry, "url_citation")
        citation = nested if isinstance(nested, dict) else entry
        url = string(citation.get("url"))
        if url is None:
            continue
        start, end = count(citation.get("start_index")), count(citation.get("end_index"))
        placed = start is not None and end is not None and before <= start <= end and end > 0
        yield Annotation(
            start=start - before if placed and start is not None else None,
            end=end - before if placed and end is not None else None,
            url=url,
            title=string(citation.get("title")),
        )


def _parse_sources(body: dict[str, Any], message: Any) -> tuple[ReportSource, ...]:
    """Return the list that `[n]` refers to, with a placeholder for each unreadable entry."""
    results = body.get("search_results") or child(message, "search_results")
    urls = body.get("citations") or child(message, "citations")
    results = results if isinstance(results, list) else []
    urls = urls if isinstance(urls, list) else []
    titles = {child(one, "url"): string(child(one, "title")) for one in objects(results + urls)
              if string(child(one, "url"))}  # fmt: skip
    listed = results if len(results) >= len(urls) else urls
    addresses = [string(one) or string(child(one, "url")) for one in listed]
    return tuple(
        ReportSource(url=url, title=titles.get(url)) if url else UNKNOWN_SOURCE for url in addresses
    )


def _parse_usage(usage: Any) -> AgentUsage:
    tokens = count(child(usage, "completion_tokens"))
    inside = count(child(usage, "completion_tokens_details", "reasoning_tokens"))
    return AgentUsage(
        input_tokens=count(child(usage, "prompt_tokens")),
        cached_tokens=count(child(usage, "prompt_tokens_details", "cached_tokens")),
        output_tokens=None if tokens is None else max(0, tokens - (inside or 0)),
        reasoning_tokens=count(child(usage, "reasoning_tokens")) if inside is None else inside,
        citation_tokens=count(child(usage, "citation_tokens")),
        searches=count(child(usage, "num_search_queries")),
    )


def _parse_cost(cost: Any) -> float | None:
    """Return the cost that the endpoint reports: a number, or an object with a total."""
    return amount(cost) if not isinstance(cost, dict) else amount(cost.get("total_cost"))
