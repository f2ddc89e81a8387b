"""Alibaba's DashScope: qwen-deep-research, streamed, in two steps.

The first answer to an assignment is a question, the second, to the whole conversation, is the
report (`parameters: {parameters: {enable_feedback: false}}` skips the question, if the model
supports that). It answers in one request: if the stream breaks, the report is lost.
"""

import json
from typing import Any

import httpx

from tasks.agents.agent import (
    AgentUsage,
    Gone,
    JobAnswer,
    JobRequest,
    JobStatus,
    UnreadableJobAnswer,
)
from tasks.agents.event_stream import EventStreamApi
from tasks.agents.http import CONFIGURED_IN, explain_check_error, get_base_url
from tasks.agents.json_values import child, count, parse_object, string
from tasks.agents.kinds import AgentFolders
from tasks.agents.providers.dashscope_stream import StreamCollector, read_stream
from tasks.agents.synchronous_api import bearer_header, build_messages
from tasks.configuration.agents import DashScopeAsk
from tasks.models.client import parse_error, redact_key
from tasks.models.errors import (
    Misconfigured,
    ModelError,
    QuotaExhausted,
    RequestRejected,
    TransientError,
)

BASE_URL = "https://dashscope.aliyuncs.com/api/v1"
PATH = "/services/aigc/text-generation/generation"
STREAM_HEADERS = {"X-DashScope-SSE": "enable", "Accept": "text/event-stream"}
QUOTA_CODES = ("Arrearage", "AllocationQuota")
"""Prefixes of codes for missing credit. The first comes with HTTP 400."""
TRANSIENT_CODES = ("Throttling", "ServiceUnavailable", "ModelServingError")
REJECTED_CODES = ("InvalidParameter", "DataInspectionFailed", "BadRequest")


class DashScopeApi(EventStreamApi):
    """The API with DashScope's own error codes, which say more than its HTTP statuses."""

    def _error_for(self, response: httpx.Response, *, buying: bool) -> ModelError:
        message, word = parse_error(response)
        if word and word.startswith(QUOTA_CODES):
            return self.quota_error(redact_key(message, self._secret))
        return super()._error_for(response, buying=buying)

    def quota_error(self, message: str) -> QuotaExhausted:
        return QuotaExhausted(
            f"{self._agent}: the account has no credit or quota left ({message[:200]}). "
            "Answers received so far are kept; top it up and run again."
        )

    def stream_error(self, body: Any) -> ModelError:
        """Classify an error that came instead of the first event."""
        code, message = string(child(body, "code")) or "", string(child(body, "message")) or ""
        details = redact_key(f"{code}: {message}"[:500], self._secret)
        if code.startswith(QUOTA_CODES):
            return self.quota_error(details)
        if code.startswith(TRANSIENT_CODES):
            return TransientError(details, "rate_limit")
        if code.startswith(("InvalidApiKey", "AccessDenied")):
            return Misconfigured(
                f"{self._agent}: the key is not accepted ({details}). Check the variable that "
                f"`{CONFIGURED_IN}` names for it."
            )
        if code.startswith(REJECTED_CODES):
            return RequestRejected(details, 400)
        return TransientError(details, "server", maybe_billed=True)


class DashScopeClient:
    """A client of one agent."""

    def __init__(self, agent: str, ask: DashScopeAsk, key: str | None) -> None:
        self._agent = agent
        self._ask = ask
        self._key = key
        self._base_url = get_base_url(ask, BASE_URL)
        self._api = DashScopeApi(
            agent,
            self._base_url,
            bearer_header(key),
            secret=key,
            timeout_seconds=ask.limits.timeout_seconds,
            connections=max(16, ask.limits.concurrency),
        )

    async def start(self, request: JobRequest) -> JobStatus:
        collector = StreamCollector()
        await self._api.buy_stream(
            PATH,
            build_request(self._ask, request),
            STREAM_HEADERS,
            collector.add,
            seconds=self._ask.limits.timeout_seconds,
        )
        if collector.error is not None and not collector.pieces:
            raise self._api.stream_error(collector.error)
        raw = redact_key(json.dumps(collector.to_json(), ensure_ascii=False), self._key)
        state = "finished" if collector.error is None else "error"
        return JobStatus(remote_id=None, remote_state=state, ended=True, raw=raw)

    async def poll(self, remote_id: str) -> JobStatus:
        raise Gone(
            f"{self._agent}: {self._base_url} answers in one request; there is no job to poll"
        )

    async def check(self) -> str:
        """Send a request without messages: the key is checked before them."""
        try:
            await self._api.buy(PATH, {"model": self._ask.model, "input": {"messages": []}})
        except RequestRejected as error:
            if error.code != 400:
                raise Misconfigured(
                    f"{self._agent}: {self._base_url} does not answer as DashScope does ({error}). "
                    f"Check `base_url` in {CONFIGURED_IN}."
                ) from None
        except ModelError as error:
            raise explain_check_error(error, self._agent, self._base_url) from None
        return (
            f"{self._agent}: {self._base_url} answers and accepts the key. Whether it may use "
            f"{self._ask.model} is only known once a report is bought."
        )

    async def close(self) -> None:
        await self._api.close()


def open_client(
    agent: str, ask: DashScopeAsk, key: str | None, folders: AgentFolders
) -> DashScopeClient:
    return DashScopeClient(agent, ask, key)


def build_request(ask: DashScopeAsk, request: JobRequest) -> dict[str, Any]:
    """Build the request for an answer, with the whole conversation."""
    given = ask.parameters.get("parameters")
    parameters = {"result_format": "message"} | (given if isinstance(given, dict) else {})
    return (
        {"model": ask.model, "input": {"messages": build_messages(request)}}
        | ask.parameters
        | {"parameters": parameters | {"incremental_output": True}}  # the collector expects it
    )


def read(raw: str) -> JobAnswer:
    """Read a stream that has ended.

    Raises:
        UnreadableJobAnswer: `raw` is not a collected stream.
    """
    body = parse_object(raw, "a collected stream of DashScope")
    if not isinstance(body.get("stream"), list):
        raise UnreadableJobAnswer(
            "expected a collected stream of DashScope with a list `stream`, got an object with "
            f"{sorted(map(str, body))[:10]}"
        )
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
        ),
        error=problem,
    )


def _describe_problem(error: Any, text: str) -> str | None:
    """Describe why there is no report; None if there is one."""
    if error is not None:
        words = [string(child(error, "code")), string(child(error, "message"))]
        return ": ".join(filter(None, words)) or "the stream ended with an error"
    return None if text.strip() else "finished, but without text"
