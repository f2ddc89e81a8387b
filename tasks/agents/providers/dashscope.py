"""Alibaba's DashScope: qwen-deep-research, streamed, in two steps.

The first answer to an assignment is a question, the second, to the whole conversation, is the
report (`parameters: {parameters: {enable_feedback: false}}` skips the question, if the model
supports that). It answers in one request: if the stream breaks, the report is lost.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx
from httpx_sse import EventSource, ServerSentEvent, SSEError

from tasks.agents.agent import AgentUsage, JobAnswer, JobRequest, JobStatus
from tasks.agents.http import CONFIGURED_IN, SynchronousClient
from tasks.agents.json_values import child, count, parse_object, string, unexpected_object
from tasks.agents.providers.dashscope_stream import StreamCollector, read_stream
from tasks.models.client import redact_key
from tasks.models.errors import Misconfigured, ModelError, RequestRejected, TransientError
from tasks.models.usage_counts import count_cache_writes

PATH = "/services/aigc/text-generation/generation"
STREAM_HEADERS = {"X-DashScope-SSE": "enable", "Accept": "text/event-stream"}
STATUSES = {
    ("Arrearage", "AllocationQuota"): 402,
    ("Throttling", "ServiceUnavailable", "ModelServingError"): 429,
    ("InvalidApiKey", "AccessDenied"): 401,
    ("InvalidParameter", "DataInspectionFailed", "BadRequest"): 400,
}
"""The HTTP statuses that an error in a stream means, by the beginning of its code."""
LINGER_SECONDS = 5.0
"""How long to wait for a stream to close once its answer is complete."""


class EventStreamClient(SynchronousClient):
    """A client whose report comes as a stream of server-sent events, with `ApiClient`'s errors."""

    async def buy_stream(
        self,
        path: str,
        body: Any,
        headers: Mapping[str, str],
        on_event: Callable[[ServerSentEvent], bool],
    ) -> None:
        """Send one POST that may cost money, and pass on the events of the answer as they arrive.

        on_event: receives each event; returns whether it completes the answer.

        Raises:
            TransientError: with `maybe_billed` where the request may have been processed, as always
                when a stream ends before its answer is complete.
            RequestRejected, StopStage: the request was refused; nothing was bought.
        """
        whole = False
        seconds = self.ask.limits.timeout_seconds
        try:
            async with (
                asyncio.timeout(seconds) as limit,
                self._post(path, body, headers) as answer,
                aclosing(EventSource(answer).aiter_sse()) as events,
            ):
                async for event in events:
                    if on_event(event) and not whole:
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
    async def _post(
        self, path: str, body: Any, headers: Mapping[str, str]
    ) -> AsyncIterator[httpx.Response]:
        """Send a POST and yield the response once its headers have arrived with a good status."""
        async with self._transport.stream(
            "POST",
            self.base_url + path,
            self._headers(headers),
            self.ask.limits.timeout_seconds,
            json=body,
        ) as response:
            if not response.is_success:
                await response.aread()
                raise self._error_for(response, buying=True)
            yield response


def _truncated_error(why: str) -> TransientError:
    return TransientError(f"the answer was cut: {why}", "garbled", maybe_billed=True)


class DashScopeClient(EventStreamClient):
    """A client of one agent.

    DashScope's own error codes say more than its HTTP statuses.
    """

    async def start(self, request: JobRequest) -> JobStatus:
        given = self.ask.parameters.get("parameters")
        parameters = {"result_format": "message"} | (given if isinstance(given, dict) else {})
        body = (
            {"model": self.ask.model, "input": {"messages": request.chat_messages()}}
            | self.ask.parameters
            | {"parameters": parameters | {"incremental_output": True}}  # the collector expects it
        )
        collector = StreamCollector()
        await self.buy_stream(PATH, body, STREAM_HEADERS, collector.add)
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

    def _stream_error(self, body: Any) -> ModelError:
        """Classify an error that came instead of the first event."""
        code, message = string(child(body, "code")) or "", string(child(body, "message")) or ""
        details = redact_key(f"{code}: {message}"[:500], self._key)
        statuses = (status for begins, status in STATUSES.items() if code.startswith(begins))
        return self._classify_status(next(statuses, 500), details, {}, buying=True)


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


def _describe_problem(error: Any, text: str) -> str | None:
    """Describe why there is no report; None if there is one."""
    if error is not None:
        words = [string(child(error, "code")), string(child(error, "message"))]
        return ": ".join(filter(None, words)) or "the stream ended with an error"
    return None if text.strip() else "finished, but without text"
