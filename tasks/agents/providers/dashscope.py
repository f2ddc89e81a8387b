"""Alibaba's DashScope: qwen-deep-research, streamed, in two steps.

The first answer to an assignment is a question, the second, to the whole conversation, is the
report (`parameters: {parameters: {enable_feedback: false}}` skips the question, if the model
supports that). It answers in one request: if the stream breaks, the report is lost.
"""

from typing import Any

import httpx

from tasks.agents.agent import AgentUsage, JobAnswer, JobRequest, JobStatus
from tasks.agents.event_stream import EventStreamClient
from tasks.agents.http import CONFIGURED_IN
from tasks.agents.json_values import child, count, parse_object, string, unexpected_object
from tasks.agents.providers.dashscope_stream import StreamCollector, read_stream
from tasks.models.cache_writes import count_cache_writes
from tasks.models.client import parse_error, redact_key
from tasks.models.errors import Misconfigured, ModelError, RequestRejected, TransientError

PATH = "/services/aigc/text-generation/generation"
STREAM_HEADERS = {"X-DashScope-SSE": "enable", "Accept": "text/event-stream"}
QUOTA_CODES = ("Arrearage", "AllocationQuota")
"""Prefixes of codes for missing credit. The first comes with HTTP 400."""
TRANSIENT_CODES = ("Throttling", "ServiceUnavailable", "ModelServingError")
REJECTED_CODES = ("InvalidParameter", "DataInspectionFailed", "BadRequest")


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

    def _error_for(self, response: httpx.Response, *, buying: bool) -> ModelError:
        message, word = parse_error(response)
        if word and word.startswith(QUOTA_CODES):
            return self._quota_error(redact_key(message, self._key))
        return super()._error_for(response, buying=buying)

    def _stream_error(self, body: Any) -> ModelError:
        """Classify an error that came instead of the first event."""
        code, message = string(child(body, "code")) or "", string(child(body, "message")) or ""
        details = redact_key(f"{code}: {message}"[:500], self._key)
        if code.startswith(QUOTA_CODES):
            return self._quota_error(details)
        if code.startswith(TRANSIENT_CODES):
            return TransientError(details, "rate_limit")
        if code.startswith(("InvalidApiKey", "AccessDenied")):
            return Misconfigured(
                f"{self.agent}: the key is not accepted ({details}). Check the variable that "
                f"`{CONFIGURED_IN}` names for it."
            )
        if code.startswith(REJECTED_CODES):
            return RequestRejected(details, 400)
        return TransientError(details, "server", maybe_billed=True)


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
