"""Alibaba's DashScope: qwen-deep-research, streamed, in two steps.

The first answer to an assignment is a question, the second, to the whole conversation, is the
report (`parameters: {parameters: {enable_feedback: false}}` skips the question, if the model
supports that). It answers in one request: if the stream breaks, the report is lost.

Format (from the provider's documentation and recorded streams, 2025-2026): each event is
`{"output": {"message": {"phase", "status", "content", "extra"}}, "usage", "request_id"}`. Phases:
`answer` (the clarifying question, or the report), `ResearchPlanning`, `WebResearch`, `KeepAlive`.
`content` is a piece of text. `extra.deep_research` holds, also in pieces, one search
(`research: {id, query, researchGoal, webSites, learningMap}`) or the report's list of sources
(`references: [{index_number, title, url, description}]`).
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tasks.agents.agent import AgentUsage, JobAnswer, JobRequest, JobStatus, ReportSource
from tasks.agents.kind import AgentKind, ApiAsk
from tasks.agents.wire.answers import (
    MAX_SOURCES,
    child,
    count,
    list_numbered,
    objects,
    parse_object,
    string,
    unexpected_object,
)
from tasks.agents.wire.http import CONFIGURED_IN, SynchronousClient
from tasks.models.answer_metadata import count_cache_writes
from tasks.models.client import redact_key
from tasks.models.errors import Misconfigured, ModelError, RequestRejected, TransientError
from tasks.warehouse.traces import SearchStep

if TYPE_CHECKING:
    import httpx
    from httpx_sse import ServerSentEvent

PATH = "/services/aigc/text-generation/generation"
STREAM_HEADERS = {"X-DashScope-SSE": "enable", "Accept": "text/event-stream"}
STATUSES = {
    ("Arrearage", "AllocationQuota"): 402,
    ("Throttling", "ServiceUnavailable", "ModelServingError"): 429,
    ("InvalidApiKey", "AccessDenied"): 401,
    ("InvalidParameter", "DataInspectionFailed", "BadRequest"): 400,
}
"""The HTTP statuses that an error in a stream means, by the beginning of its code."""
ANSWER = "answer"
IDLE_PHASES = frozenset({"KeepAlive", ""})
"""Phases without work; every other phase but `answer` is research."""
LINGER_SECONDS = 5.0
"""How long to wait for a stream to close once its answer is complete."""


class DashScopeAsk(ApiAsk):
    provider_url = "https://dashscope.aliyuncs.com/api/v1"
    kind: Literal["dashscope"]
    """Alibaba's DashScope, streamed: a clarifying question, then the research."""


@dataclass
class StreamCollector:
    """A collector of events, up to 30,000, that merges those of the same phase and status."""

    pieces: list[dict[str, Any]] = field(default_factory=list)
    """`{"phase", "status", "content", "extra"}`, in order; `extra` is None if empty."""
    usage: Any = None
    request_id: Any = None
    error: Any = None
    """The content of an `error` event, which is the last event."""
    n_unreadable: int = 0

    def add(self, event: "ServerSentEvent") -> bool:
        """Add an event; return whether it completes the answer."""
        try:
            content = json.loads(event.data)
        except (ValueError, RecursionError):
            self.n_unreadable += 1
            content = {"message": event.data[:1_000]} if event.event == "error" else None
        if event.event == "error" or (
            isinstance(content, dict) and content.get("code") and not content.get("output")
        ):
            self.error = content
            return True
        if not isinstance(content, dict):
            return False
        self.usage = content.get("usage") or self.usage
        self.request_id = content.get("request_id") or self.request_id
        return self._add_piece(child(content, "output", "message"))

    def to_json(self) -> dict[str, Any]:
        """Return everything collected, for the warehouse."""
        return {
            "stream": self.pieces,
            "usage": self.usage,
            "request_id": self.request_id,
            "error": self.error,
            "n_unreadable_events": self.n_unreadable,
        }

    def _add_piece(self, message: Any) -> bool:
        phase = string(child(message, "phase")) or ""
        status = string(child(message, "status")) or ""
        content = string(child(message, "content")) or ""
        extra = child(message, "extra", "deep_research") or None
        last = self.pieces[-1] if self.pieces else None
        if last and (last["phase"], last["status"]) == (phase, status) and not extra:
            last["content"] += content
        elif content or extra or not last or (last["phase"], last["status"]) != (phase, status):
            self.pieces.append(
                {"phase": phase, "status": status, "content": content, "extra": extra}
            )
        return phase == ANSWER and status == "finished"


class DashScopeClient(SynchronousClient):
    """DashScope's own error codes say more than its HTTP statuses."""

    async def start(self, request: JobRequest) -> JobStatus:
        given = self.ask.parameters.get("parameters")
        parameters = {"result_format": "message"} | (given if isinstance(given, dict) else {})
        body = (
            {"model": self.ask.model, "input": {"messages": request.chat_messages()}}
            | self.ask.parameters
            | {"parameters": parameters | {"incremental_output": True}}  # the collector expects it
        )
        collector = StreamCollector()
        await self._buy_stream(body, collector)
        if collector.error is not None and not collector.pieces:
            raise self._stream_error(collector.error)
        state = "finished" if collector.error is None else "error"
        return self.ended_status(state, collector.to_json())

    async def check(self) -> str:
        """Send a request without messages: the key is checked before them."""
        try:
            with self.explain_errors():
                await self.buy(PATH, {"model": self.ask.model, "input": {"messages": []}})
        except RequestRejected as error:
            if error.code != 400:
                raise Misconfigured(
                    f"{self.agent}: {self.base_url} does not answer as DashScope does ({error}). "
                    f"Check `base_url` in {CONFIGURED_IN}."
                ) from None
        return (
            f"{self.base_url} answers and accepts the key. Whether it may use "
            f"{self.ask.model} is only known once a report is bought."
        )

    async def _buy_stream(self, body: Any, collector: StreamCollector) -> None:
        """Send one POST that may cost money, and collect the events of the answer as they arrive.

        Raises:
            TransientError: with `maybe_billed` where the request may have been processed, as always
                when a stream ends before its answer is complete.
            RequestRejected, StopStage: the request was refused; nothing was bought.
        """
        from httpx_sse import EventSource, SSEError

        whole = False
        seconds = self.ask.limits.timeout_seconds
        try:
            async with (
                asyncio.timeout(seconds) as limit,
                self._post(body) as answer,
                aclosing(EventSource(answer).aiter_sse()) as events,
            ):
                async for event in events:
                    if collector.add(event) and not whole:
                        whole = True
                        limit.reschedule(asyncio.get_running_loop().time() + LINGER_SECONDS)
        except TimeoutError:
            if not whole:
                raise TransientError(
                    f"no complete answer after {seconds:,.0f} seconds",
                    "timeout",
                    maybe_billed=True,
                ) from None
        except SSEError as error:
            raise _truncated_error(str(error)) from None
        except TransientError:
            if not whole:
                raise
        if not whole:
            raise _truncated_error("the stream ended before its answer")

    @asynccontextmanager
    async def _post(self, body: Any) -> AsyncIterator["httpx.Response"]:
        """Send a POST and yield the response once its headers have arrived with a good status."""
        async with self._transport.stream(
            "POST",
            self.base_url + PATH,
            self._headers(STREAM_HEADERS),
            self.ask.limits.timeout_seconds,
            json=body,
        ) as response:
            if not response.is_success:
                await response.aread()
                raise self._error_for(response, buying=True)
            yield response

    def _stream_error(self, body: Any) -> ModelError:
        """Classify an error that came instead of the first event."""
        code, message = string(child(body, "code")) or "", string(child(body, "message")) or ""
        details = redact_key(f"{code}: {message}"[:500], self._key)
        statuses = (status for begins, status in STATUSES.items() if code.startswith(begins))
        return self._classify_status(next(statuses, 500), details, {}, buying=True)


def _truncated_error(why: str) -> TransientError:
    return TransientError(f"the answer was cut: {why}", "garbled", maybe_billed=True)


def read(raw: str) -> JobAnswer:
    """Read a stream that has ended.

    Raises:
        UnreadableJobAnswer: `raw` is not a collected stream.
    """
    body = parse_object(raw, "a collected stream of DashScope")
    if not isinstance(body.get("stream"), list):
        raise unexpected_object(body, "a collected stream of DashScope with a list `stream`")
    stream = read_stream(body["stream"])
    problem = _describe_problem(body.get("error"), stream.text)
    usage = body.get("usage")
    return JobAnswer(
        outcome="failed" if problem else "report" if stream.researched else "question",
        text=stream.text,
        sources=stream.sources,
        trace=stream.trace,
        usage=AgentUsage(
            input_tokens=count(child(usage, "input_tokens")),
            output_tokens=count(child(usage, "output_tokens")),
            searches=len(stream.trace) if stream.researched else None,
            **count_cache_writes(usage),
        ),
        error=problem,
    )


@dataclass(frozen=True)
class StreamContent:
    """The content of a stream."""

    text: str
    researched: bool
    """Whether anything was planned or searched; if not, the text is a question."""
    trace: tuple[SearchStep, ...]
    sources: tuple[ReportSource, ...]


def read_stream(pieces: Any) -> StreamContent:
    """Read the pieces of a stream, skipping those of an unknown form."""
    answer: list[str] = []
    searches: dict[str, str] = {}
    references: dict[int, ReportSource] = {}
    researched = False
    for piece in objects(pieces):
        phase = string(piece.get("phase")) or ""
        if phase == ANSWER:
            answer.append(string(piece.get("content")) or "")
        elif phase not in IDLE_PHASES:
            researched = True
            answer.clear()  # text before the research does not belong to the report
        researches = child(piece, "extra", "research")  # one, or a list of them
        for research in objects([researches] if isinstance(researches, dict) else researches):
            name = str(count(research.get("id")) or 0)
            searches[name] = searches.get(name, "") + (string(research.get("query")) or "")
        _add_references(references, child(piece, "extra", "references"))
    return StreamContent(
        text="".join(answer),
        researched=researched,
        trace=tuple(SearchStep(query=query) for query in searches.values() if query.strip()),
        sources=list_numbered(references),
    )


def _add_references(references: dict[int, ReportSource], entries: Any) -> None:
    """Add sources under their numbers; one without a number gets the next."""
    for reference in objects(entries):
        url = string(reference.get("url"))
        number = count(reference.get("index_number")) or max(references, default=0) + 1
        if url and number <= MAX_SOURCES:
            references[number] = ReportSource(url=url, title=string(reference.get("title")))


def _describe_problem(error: Any, text: str) -> str | None:
    """Describe why there is no report; None if there is one."""
    if error is not None:
        words = [string(child(error, "code")), string(child(error, "message"))]
        return ": ".join(filter(None, words)) or "the stream ended with an error"
    return None if text.strip() else "finished, but without text"


KIND = AgentKind(DashScopeAsk, DashScopeClient, read)
