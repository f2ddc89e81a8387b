"""Anthropic's Messages API with its web search tool; it answers in one request.

The provider pauses a long turn (`pause_turn`) and continues it when it is sent back unchanged.
The client continues it up to a limit, and adds up the usage of the parts. If a continuation fails,
the parts bought so far are kept as a failed report.

An answer is a list of blocks. Citations have no offsets: each text block with citations is what its
sources support. Text between searches does not belong to the report if the text after the last
search is at least half of all text.
"""

from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal

from tasks.agents.agent import AgentUsage, Annotation, JobAnswer, JobRequest, JobStatus
from tasks.agents.kind import AgentKind, ApiAsk
from tasks.agents.wire.answers import (
    SearchAction,
    build_trace,
    child,
    count,
    list_urls,
    objects,
    parse_object,
    string,
    subtract_reasoning,
    unexpected_object,
)
from tasks.agents.wire.http import SynchronousClient
from tasks.models.answer_metadata import classify_finish, count_cache_writes, describe_cut
from tasks.models.errors import ModelError, TransientError

if TYPE_CHECKING:
    from tenacity import RetryCallState

SEARCH_TOOL = "web_search_20260318"
MAX_USES = 50
"""The most searches for one report, unless `parameters` override it."""
MAX_TOKENS = 21_000
"""The most tokens in one part of the answer. Above about this the provider requires streaming
(anthropic 2.12.0 refuses, assuming 128,000 tokens an hour and ten minutes a request)."""
MAX_PARTS = 12
"""The most parts of one answer."""


class AnthropicAsk(ApiAsk):
    provider_url = "https://api.anthropic.com"
    kind: Literal["anthropic"]
    """Anthropic's Messages API with its web search tool; answers in one request."""


class AnthropicClient(SynchronousClient):
    def __init__(self, agent: str, ask: ApiAsk, key: str | None) -> None:
        super().__init__(agent, ask, key)
        self.base_url += "/v1"

    async def start(self, request: JobRequest) -> JobStatus:
        tool = {"type": SEARCH_TOOL, "name": "web_search", "max_uses": MAX_USES}
        body = {
            "model": self.ask.model,
            "max_tokens": MAX_TOKENS,
            "messages": request.chat_messages(),
            "tools": [tool],
        } | self.ask.parameters
        parts = [await self.buy_object("/messages", body)]
        problem: str | None = None
        while parts[-1].get("stop_reason") == "pause_turn":
            if len(parts) == MAX_PARTS:
                problem = f"paused {MAX_PARTS} times without an end"
                break
            try:
                parts.append(await self._continue(body, parts))
            except ModelError as error:
                problem = f"its continuation failed: {error}"
                break
        state = problem or string(parts[-1].get("stop_reason")) or "answered"
        return self.ended_status(state[:200], {"parts": parts, "problem": problem})

    def _key_headers(self) -> dict[str, str]:
        from tasks.models.anthropic import API_VERSION

        return {"anthropic-version": API_VERSION} | ({"x-api-key": self._key} if self._key else {})

    async def _continue(self, body: dict[str, Any], parts: list[dict[str, Any]]) -> dict[str, Any]:
        """Send a paused turn back with all its parts, unchanged, and buy the next part; retry if
        nothing was billed, since earlier parts are paid for."""
        from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

        history = [{"role": "assistant", "content": part.get("content")} for part in parts]
        body = body | {"messages": [*body["messages"], *history]}
        containers = [string(child(part, "container", "id")) for part in reversed(parts)]
        if container := next(filter(None, containers), None):
            body["container"] = container
        limits = self.ask.limits

        def get_hint(error: BaseException | None) -> float:
            return (error.hint_seconds if isinstance(error, TransientError) else None) or 0.0

        def may_help(error: BaseException) -> bool:
            is_free = isinstance(error, TransientError) and not error.maybe_billed
            return is_free and get_hint(error) <= limits.longest_hint_seconds

        def wait(state: "RetryCallState") -> float:
            backoff = limits.first_wait_seconds * 2.0 ** (state.attempt_number - 1)
            return max(get_hint(state.outcome.exception() if state.outcome else None), backoff)

        retrying = AsyncRetrying(
            retry=retry_if_exception(may_help),
            stop=stop_after_attempt(limits.start_tries),
            wait=wait,
            reraise=True,
        )
        return await retrying(self.buy_object, "/messages", body)


def read(raw: str) -> JobAnswer:
    """Read the parts of a turn.

    Raises:
        UnreadableJobAnswer: `raw` holds no parts.
    """
    body = parse_object(raw, "the parts of an answer of the Messages API")
    parts = objects(body.get("parts"))
    if not parts or not isinstance(parts[-1].get("content"), list):
        raise unexpected_object(
            parts[-1] if parts else body, "an answer of the Messages API with a list `content`"
        )
    blocks = [block for part in parts for block in objects(part.get("content"))]
    text, annotations = _extract_report(blocks)
    problem = string(body.get("problem")) or _describe_problem(parts[-1], text)
    thoughts = [block for block in blocks if "thinking" in (string(block.get("type")) or "")]
    reason = string(parts[-1].get("stop_reason"))
    stopped = reason is not None and classify_finish(reason) == "whole"
    silent = reason == "refusal" or (stopped and not text.strip())
    return JobAnswer(
        outcome="failed" if problem else "report",
        silent=not body.get("problem") and silent,
        text=text,
        annotations=annotations,
        trace=build_trace(_list_actions(blocks)),
        n_reasoning_steps=len(thoughts) or None,
        model_version=string(parts[-1].get("model")),
        usage=_parse_usage([part.get("usage") for part in parts]),
        error=problem,
    )


def _extract_report(blocks: list[dict[str, Any]]) -> tuple[str, tuple[Annotation, ...]]:
    """Extract the report from an answer's blocks."""
    passages: list[list[dict[str, Any]]] = [[]]
    for block in blocks:
        if block.get("type") == "text":
            passages[-1].append(block)
        elif str(block.get("type")).endswith(("tool_use", "tool_result")) and passages[-1]:
            passages.append([])
    kept = [passage for passage in passages if passage]
    lengths = [sum(len(string(block.get("text")) or "") for block in passage) for passage in kept]
    if kept and passages[-1] and 2 * lengths[-1] >= sum(lengths):
        kept = kept[-1:]
    text, annotations = "", list[Annotation]()
    for passage in kept:
        text += "\n\n" if text else ""
        texts = [string(block.get("text")) or "" for block in passage]
        starts = accumulate(map(len, texts), initial=len(text))
        for block, start, written in zip(passage, starts, texts, strict=False):
            annotations += _parse_annotations(block, start, start + len(written))
        text += "".join(texts)
    return text, tuple(annotations)


def _parse_annotations(block: dict[str, Any], start: int, end: int) -> list[Annotation]:
    return [
        Annotation(start=start, end=end, url=url, title=string(citation.get("title")))
        for citation in objects(block.get("citations"))
        if (url := string(citation.get("url")))
    ]


def _describe_problem(last: dict[str, Any], text: str) -> str | None:
    """Describe why there is no report; None if there is one."""
    reason = string(last.get("stop_reason"))
    if reason == "refusal":
        details = last.get("stop_details")
        words = [string(child(details, "category")), string(child(details, "explanation"))]
        return ": ".join(["refused", *filter(None, words)])
    if cut := describe_cut(reason):
        return cut
    return None if text.strip() else f"{reason or 'no stop_reason'}, but without text"


def _list_actions(blocks: list[dict[str, Any]]) -> Iterator[SearchAction]:
    """Yield the searches, each with what it found, and the pages fetched."""
    found = {
        str(block.get("tool_use_id")): list_urls(block.get("content"))
        for block in blocks
        if block.get("type") == "web_search_tool_result"
    }
    for block in blocks:
        if block.get("type") != "server_tool_use":
            continue
        if block.get("name") == "web_search" and (query := string(child(block, "input", "query"))):
            yield [query], found.get(str(block.get("id")), []), []
        elif block.get("name") == "web_fetch" and (url := string(child(block, "input", "url"))):
            yield [], [], [url]


def _parse_usage(parts: list[Any]) -> AgentUsage:
    """Add up the usage of all parts; a figure is None if no part reports it."""

    parts = [part | count_cache_writes(part) for part in objects(parts)]

    def total(*names: str) -> int | None:
        known = [number for part in parts if (number := count(child(part, *names))) is not None]
        return count(sum(known)) if known else None

    written = total("cache_write_tokens")
    cached = total("cache_read_input_tokens")
    fresh = total("input_tokens")
    tokens = total("output_tokens")
    reasoning = total("output_tokens_details", "thinking_tokens")
    return AgentUsage(
        input_tokens=None if fresh is None else count(fresh + (cached or 0) + (written or 0)),
        cached_tokens=cached,
        cache_write_tokens=written,
        cache_write_hour_tokens=total("cache_write_hour_tokens"),
        output_tokens=subtract_reasoning(tokens, reasoning),
        reasoning_tokens=reasoning,
        searches=total("server_tool_use", "web_search_requests"),
    )


KIND = AgentKind(AnthropicAsk, AnthropicClient, read, says_finish_reason=True)
