"""Alibaba's DashScope: qwen-deep-research, streamed, in two steps.

The first answer to an assignment is a question back, the second, to the whole conversation, is
the research (`parameters: {parameters: {enable_feedback: false}}` leaves out the question, where
the model knows that). It answers in one request: a stream that breaks has lost the report.
"""

import json
from typing import Any

import httpx

from tasks.agents.agent import AgentUsage, Answer, Gone, Question, Seen, UnreadableAnswer
from tasks.agents.at_once import bearer, messages
from tasks.agents.event_stream import EventStreamApi
from tasks.agents.http import CONFIGURED_IN, check_reached, endpoint
from tasks.agents.json_values import child, count, parsed_object, string
from tasks.agents.kinds import Place
from tasks.agents.providers.dashscope_stream import Gathered, read_stream
from tasks.configuration.agents import DashScopeAsk
from tasks.models.client import error_of, redacted
from tasks.models.errors import (
    Misconfigured,
    ModelError,
    QuotaExhausted,
    Rejected,
    Transient,
)

BASE_URL = "https://dashscope.aliyuncs.com/api/v1"
PATH = "/services/aigc/text-generation/generation"
STREAMED = {"X-DashScope-SSE": "enable", "Accept": "text/event-stream"}
NO_MONEY = ("Arrearage", "AllocationQuota")
"""How codes begin that say: pay first. The first comes with HTTP 400."""
LATER = ("Throttling", "ServiceUnavailable", "ModelServingError")
REFUSED = ("InvalidParameter", "DataInspectionFailed", "BadRequest")


class DashScopeApi(EventStreamApi):
    """DashScope's own words for what its HTTP statuses do not say."""

    def _meaning(self, response: httpx.Response, *, buying: bool) -> ModelError:
        message, word = error_of(response)
        if word and word.startswith(NO_MONEY):
            return self.no_money(redacted(message, self._secret))
        return super()._meaning(response, buying=buying)

    def no_money(self, message: str) -> QuotaExhausted:
        return QuotaExhausted(
            f"{self._agent}: the account has no money or quota left ({message[:200]}). What was "
            "answered is kept; add some and run again."
        )

    def refused(self, said: Any) -> ModelError:
        """What an error means that came in place of the first event."""
        code, message = string(child(said, "code")) or "", string(child(said, "message")) or ""
        shown = redacted(f"{code}: {message}"[:500], self._secret)
        if code.startswith(NO_MONEY):
            return self.no_money(shown)
        if code.startswith(LATER):
            return Transient(shown, "rate_limit")
        if code.startswith(("InvalidApiKey", "AccessDenied")):
            return Misconfigured(
                f"{self._agent}: the key is not accepted ({shown}). Check the variable that "
                f"`{CONFIGURED_IN}` names for it."
            )
        if code.startswith(REFUSED):
            return Rejected(shown, 400)
        return Transient(shown, "server", maybe_billed=True)


class DashScopeClient:
    """One agent."""

    def __init__(self, agent: str, ask: DashScopeAsk, key: str | None) -> None:
        self._agent = agent
        self._ask = ask
        self._key = key
        self._base_url = endpoint(ask, BASE_URL)
        self._api = DashScopeApi(
            agent,
            self._base_url,
            bearer(key),
            secret=key,
            timeout_seconds=ask.limits.timeout_seconds,
            connections=max(16, ask.limits.concurrency),
        )

    async def start(self, question: Question) -> Seen:
        gathered = Gathered()
        await self._api.buy_stream(
            PATH,
            request_body(self._ask, question),
            STREAMED,
            gathered.take,
            seconds=self._ask.limits.timeout_seconds,
        )
        if gathered.error is not None and not gathered.pieces:
            raise self._api.refused(gathered.error)
        raw = redacted(json.dumps(gathered.kept(), ensure_ascii=False), self._key)
        word = "finished" if gathered.error is None else "error"
        return Seen(remote_id=None, word=word, ended=True, raw=raw)

    async def look(self, remote_id: str) -> Seen:
        raise Gone(
            f"{self._agent}: {self._base_url} answers in one request, there is nothing to look at"
        )

    async def check(self) -> str:
        """A request without a question: the key is looked at before what it asks."""
        try:
            await self._api.buy(PATH, {"model": self._ask.model, "input": {"messages": []}})
        except Rejected as error:
            if error.code != 400:
                raise Misconfigured(
                    f"{self._agent}: {self._base_url} does not answer as DashScope does ({error}). "
                    f"Check `base_url` in {CONFIGURED_IN}."
                ) from None
        except ModelError as error:
            raise check_reached(error, self._agent, self._base_url) from None
        return (
            f"{self._agent}: {self._base_url} answers and accepts the key. Whether it may use "
            f"{self._ask.model} shows only when a report is bought."
        )

    async def close(self) -> None:
        await self._api.close()


def open_client(agent: str, ask: DashScopeAsk, key: str | None, place: Place) -> DashScopeClient:
    return DashScopeClient(agent, ask, key)


def request_body(ask: DashScopeAsk, question: Question) -> dict[str, Any]:
    """What is sent to buy an answer, with all that was said before."""
    given = ask.parameters.get("parameters")
    parameters = {"result_format": "message"} | (given if isinstance(given, dict) else {})
    return (
        {"model": ask.model, "input": {"messages": messages(question)}}
        | ask.parameters
        | {"parameters": parameters | {"incremental_output": True}}  # as it is read here
    )


def read(raw: str) -> Answer:
    """A stream that has ended.

    Raises:
        UnreadableAnswer: it is none.
    """
    body = parsed_object(raw, "a gathered stream of DashScope")
    if not isinstance(body.get("stream"), list):
        raise UnreadableAnswer(
            "expected a gathered stream of DashScope with a list `stream`, got an object with "
            f"{sorted(map(str, body))[:10]}"
        )
    stream = read_stream(body["stream"])
    problem = _problem(body.get("error"), stream.text)
    usage = body.get("usage")
    return Answer(
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


def _problem(error: Any, text: str) -> str | None:
    """Why there is no report, in words; None where there is one."""
    if error is not None:
        words = [string(child(error, "code")), string(child(error, "message"))]
        return ": ".join(filter(None, words)) or "the stream ended with an error"
    return None if text.strip() else "finished, but without a text"
