"""Anthropic's Messages API with its web search tool; it answers in one request.

A long turn is paused by the provider (`pause_turn`) and goes on when it is sent back as it came:
that is the same report, so it is continued here, a set number of times, and what the parts took
is added up. A part that was bought is never given up: where a continuation fails, what there is
is kept as a failed report.

An answer is a list of blocks. Each text block with citations is what its sources support: citations
carry no places, the blocks are them. What is said between searches is no part of the report, where
the text after the last search is the greater part of all that was said.
"""

import asyncio
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from tasks.agents.agent import (
    AgentUsage,
    Annotation,
    Answer,
    Question,
    Seen,
    UnreadableAnswer,
)
from tasks.agents.at_once import AtOnce, messages
from tasks.agents.http import endpoint
from tasks.agents.json_values import child, count, objects, parsed_object, string
from tasks.agents.kinds import Place
from tasks.configuration.agents import AgentLimits, AnthropicAsk
from tasks.models.errors import ModelError, Transient
from tasks.warehouse.traces import SearchStep

BASE_URL = "https://api.anthropic.com"
API_VERSION = "2026-10-21"
SEARCH_TOOL = "web_search_20260318"
MAX_USES = 50
"""Searches of one report, where `parameters` say nothing else."""
MAX_TOKENS = 21_000
"""Of one part of the answer. Above about this the provider wants answers to be streamed (anthropic
2.12.0 refuses, reckoning 128,000 tokens an hour and ten minutes a request)."""
MAX_PARTS = 12
"""Times a turn is paused and continued at most, less one."""
ENDS = frozenset({"end_turn", "stop_sequence"})


class AnthropicClient:
    """One agent."""

    def __init__(self, agent: str, ask: AnthropicAsk, key: str | None) -> None:
        self._ask = ask
        headers = {"anthropic-version": API_VERSION} | ({"x-api-key": key} if key else {})
        self._at = AtOnce(agent, ask, key, f"{endpoint(ask, BASE_URL)}/v1", headers)

    async def start(self, question: Question) -> Seen:
        body = request_body(self._ask, question)
        parts = [await self._at.buy("/messages", body)]
        problem: str | None = None
        while parts[-1].get("stop_reason") == "pause_turn":
            if len(parts) == MAX_PARTS:
                problem = f"paused {MAX_PARTS} times, and still no end"
                break
            try:
                parts.append(await self._continued(continuation(body, parts)))
            except ModelError as error:
                problem = f"its continuation failed: {error}"
                break
        word = problem or string(parts[-1].get("stop_reason")) or "answered"
        return self._at.seen(word[:200], {"parts": parts, "problem": problem})

    async def look(self, remote_id: str) -> Seen:
        return await self._at.look(remote_id)

    async def check(self) -> str:
        return await self._at.check_model(self._ask.model)

    async def close(self) -> None:
        await self._at.close()

    async def _continued(self, body: dict[str, Any]) -> dict[str, Any]:
        """The next part; what surely began nothing is tried again, for the report is half paid."""
        limits = self._ask.limits
        for failures in range(limits.start_tries):
            try:
                return await self._at.buy("/messages", body)
            except Transient as error:
                pause = _pause(error, failures, limits)
                if error.maybe_billed or pause is None or failures + 1 == limits.start_tries:
                    raise
                await asyncio.sleep(pause)
        raise AssertionError("start_tries is at least 1")


def open_client(agent: str, ask: AnthropicAsk, key: str | None, place: Place) -> AnthropicClient:
    return AnthropicClient(agent, ask, key)


def request_body(ask: AnthropicAsk, question: Question) -> dict[str, Any]:
    """What is sent to buy a report, with all that was said before."""
    tool = {"type": SEARCH_TOOL, "name": "web_search", "max_uses": MAX_USES}
    body = {
        "model": ask.model,
        "max_tokens": MAX_TOKENS,
        "messages": messages(question),
        "tools": [tool],
    }
    return body | ask.parameters


def continuation(body: dict[str, Any], parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The request that lets a paused turn go on: all its parts, as they came."""
    said = [{"role": "assistant", "content": part.get("content")} for part in parts]
    going_on = body | {"messages": [*body["messages"], *said]}
    containers = [string(child(part, "container", "id")) for part in parts]
    container = next((one for one in reversed(containers) if one), None)
    return going_on | ({"container": container} if container else {})


def read(raw: str) -> Answer:
    """The parts of a turn.

    Raises:
        UnreadableAnswer: they are none.
    """
    body = parsed_object(raw, "the parts of an answer of the Messages API")
    parts = objects(body.get("parts"))
    if not parts or not isinstance(parts[-1].get("content"), list):
        raise UnreadableAnswer(
            "expected an answer of the Messages API with a list `content`, got an object with "
            f"{sorted(map(str, parts[-1] if parts else body))[:10]}"
        )
    blocks = [block for part in parts for block in objects(part.get("content"))]
    written = _written(blocks)
    problem = string(body.get("problem")) or _problem(parts[-1], written.text)
    thoughts = [block for block in blocks if "thinking" in (string(block.get("type")) or "")]
    return Answer(
        outcome="failed" if problem else "report",
        text=written.text,
        annotations=written.annotations,
        trace=_trace(blocks),
        n_reasoning_steps=len(thoughts) or None,
        model_version=string(parts[-1].get("model")),
        usage=_usage([part.get("usage") for part in parts]),
        error=problem,
    )


@dataclass(frozen=True)
class _Written:
    text: str
    annotations: tuple[Annotation, ...]


def _written(blocks: list[dict[str, Any]]) -> _Written:
    """The report that stands in an answer's blocks."""
    passages: list[list[dict[str, Any]]] = [[]]
    for block in blocks:
        if block.get("type") == "text":
            passages[-1].append(block)
        elif str(block.get("type")).endswith(("tool_use", "tool_result")) and passages[-1]:
            passages.append([])
    said = [passage for passage in passages if passage]
    lengths = [sum(len(string(block.get("text")) or "") for block in passage) for passage in said]
    if said and passages[-1] and 2 * lengths[-1] >= sum(lengths):
        said = said[-1:]
    text, annotations = "", list[Annotation]()
    for passage in said:
        text += "\n\n" if text else ""
        texts = [string(block.get("text")) or "" for block in passage]
        starts = accumulate(map(len, texts), initial=len(text))
        for block, start, written in zip(passage, starts, texts, strict=False):
            annotations += _annotations(block, start, start + len(written))
        text += "".join(texts)
    return _Written(text, tuple(annotations))


def _annotations(block: dict[str, Any], start: int, end: int) -> list[Annotation]:
    return [
        Annotation(start=start, end=end, url=url, title=string(citation.get("title")))
        for citation in objects(block.get("citations"))
        if (url := string(citation.get("url")))
    ]


def _problem(last: dict[str, Any], text: str) -> str | None:
    """Why there is no report, in words; None where there is one."""
    reason = string(last.get("stop_reason")) or "no stop_reason"
    if reason == "refusal":
        details = last.get("stop_details")
        words = [string(child(details, "category")), string(child(details, "explanation"))]
        return ": ".join(["refused", *filter(None, words)])
    if reason not in ENDS:
        cut = reason in ("max_tokens", "model_context_window_exceeded")
        return f"{reason}: the answer is cut" if cut else f"stopped by {reason}"
    return None if text.strip() else f"{reason}, but without a text"


def _trace(blocks: list[dict[str, Any]]) -> tuple[SearchStep, ...]:
    """What was searched for, and which pages were fetched; results that were shown are neither."""
    steps: list[SearchStep] = []
    for block in blocks:
        if block.get("type") != "server_tool_use":
            continue
        if block.get("name") == "web_search" and (query := string(child(block, "input", "query"))):
            steps.append(SearchStep(query=query))
        elif block.get("name") == "web_fetch" and (url := string(child(block, "input", "url"))):
            steps.append(SearchStep(opened=(url,)))
    return tuple(steps)


def _usage(said: list[Any]) -> AgentUsage:
    """What all parts took together; None where no part says."""

    def total(*names: str) -> int | None:
        known = [number for part in said if (number := count(child(part, *names))) is not None]
        return sum(known) if known else None

    cached = total("cache_read_input_tokens")
    fresh, kept = total("input_tokens"), total("cache_creation_input_tokens")
    tokens = total("output_tokens")
    reasoning = total("output_tokens_details", "thinking_tokens")
    return AgentUsage(
        input_tokens=None if fresh is None else fresh + (cached or 0) + (kept or 0),
        cached_tokens=cached,
        output_tokens=None if tokens is None else max(0, tokens - (reasoning or 0)),
        reasoning_tokens=reasoning,
        searches=total("server_tool_use", "web_search_requests"),
    )


def _pause(error: Transient, failures: int, limits: AgentLimits) -> float | None:
    """Seconds before the next try; None where the server asks for more patience than there is."""
    hint = error.hint_seconds or 0.0
    if hint > limits.longest_hint_seconds:
        return None
    return max(hint, limits.first_wait_seconds * 2.0**failures)
