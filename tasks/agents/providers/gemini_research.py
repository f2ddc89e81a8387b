"""Gemini Deep Research: Google's Interactions API in the background, through google-genai.

The SDK makes the requests; it repeats none (left alone it sends a request up to five times, and
a report is bought by each), and answers are kept as they came, not as its types hold them.
"""

import json
from collections.abc import Awaitable
from typing import Any
from urllib.parse import quote

import httpx
from google import genai
from google.genai import _interactions as refusals
from google.genai import types

from tasks.agents.agent import Gone, Question, Seen
from tasks.agents.http import CONFIGURED_IN, SURELY_REFUSED, check_reached, endpoint
from tasks.agents.json_values import child, string
from tasks.agents.kinds import Place
from tasks.agents.polled import NO_SUCH_JOB
from tasks.configuration.agents import GeminiDeepResearchAsk
from tasks.models.client import redacted, refusal
from tasks.models.errors import Misconfigured, ModelError, Rejected, Transient
from tasks.models.gemini import error_details, too_many_requests, unheard
from tasks.models.transport import http_client
from tasks.warehouse.rows import storable

ENDS = frozenset(
    {"completed", "failed", "cancelled", "incomplete", "budget_exceeded", "requires_action"}
)
"""Every other word, known (`queued`, `in_progress`, `requires_continuation`) or not, is waited
for. `requires_action` waits for us: the deadline would pass."""
RESEARCH = {
    "type": "deep-research",
    "thinking_summaries": "auto",
    "visualization": "off",
    "collaborative_planning": False,
}


class GeminiResearchClient:
    """One agent."""

    def __init__(self, agent: str, ask: GeminiDeepResearchAsk, key: str | None) -> None:
        self._agent = agent
        self._ask = ask
        self._key = key
        self._base_url = endpoint(ask, "") or None
        seconds = ask.limits.timeout_seconds
        self._http = http_client(max(16, ask.limits.concurrency), seconds)
        client = genai.Client(
            api_key=key or "none",
            http_options=types.HttpOptions(
                base_url=self._base_url,
                timeout=round(seconds * 1000),
                httpx_async_client=self._http,
                retry_options=types.HttpRetryOptions(attempts=1),
            ),
        )
        self._interactions: Any = client.aio.interactions.with_raw_response

    async def start(self, question: Question) -> Seen:
        known, more = request_fields(self._ask, question)
        body = await self._asked(self._interactions.create(**known, extra_body=more), buying=True)
        seen = _seen(body, None, self._key)
        if seen is None or seen.remote_id is None:
            raise Transient(
                "the answer names no interaction: one may have been made",
                "garbled",
                maybe_billed=True,
            )
        return seen

    async def look(self, remote_id: str) -> Seen:
        try:
            body = await self._looked(remote_id)
        except Rejected as error:  # not "unknown": what was paid for is not given up for that
            raise Transient(str(error), "server", code=error.code) from None
        seen = _seen(body, remote_id, self._key)
        if seen is None:
            raise Transient("the answer is no JSON object with an interaction in it", "garbled")
        return seen

    async def check(self) -> str:
        where = self._base_url or "Google's address"
        try:
            await self._looked(NO_SUCH_JOB)
        except (Gone, Rejected):
            return (
                f"{self._agent}: {where} answers and accepts the key. Whether there is an agent "
                f"{self._ask.model} shows only when a report is bought."
            )
        except ModelError as error:
            raise check_reached(error, self._agent, where) from None
        return (
            f"{self._agent}: {where} answers, but knows a job that cannot exist. Check that "
            f"`base_url` in {CONFIGURED_IN} is the provider's."
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def _looked(self, remote_id: str) -> str:
        return await self._asked(self._interactions.get(quote(remote_id, safe="")), buying=False)

    async def _asked(self, call: Awaitable[Any], *, buying: bool) -> str:
        """The body of an answer as it came."""
        try:
            response: httpx.Response = (await call).http_response
        except refusals.APIStatusError as error:
            raise self._meaning(error, buying=buying) from None
        except Exception as error:
            raise unheard(error, self._key, buying=buying) from None
        if not response.is_success:  # the SDK takes a redirect for an answer
            raise refusal(response.status_code, "", {}, self._agent, CONFIGURED_IN)
        return response.text

    def _meaning(self, error: refusals.APIStatusError, *, buying: bool) -> ModelError:
        code, headers = error.response.status_code, error.response.headers
        said = string(child(error.body, "error", "message")) or str(error.body or error)
        message = redacted(said, self._key)
        if code == 429:
            return too_many_requests(message, error_details(error.body), headers)
        if code == 400 and "API_KEY_INVALID" in str(error.body):
            return Misconfigured(
                f"{self._agent}: the key is not accepted ({message[:200]}). Check the variable "
                f"that `{CONFIGURED_IN}` names for it."
            )
        if not buying and code in (404, 410):
            return Gone(f"HTTP {code}: {message[:300]}")
        meaning = refusal(code, message, headers, self._agent, CONFIGURED_IN)
        if buying and isinstance(meaning, Transient):
            meaning.maybe_billed = code not in SURELY_REFUSED
        return meaning


def open_client(
    agent: str, ask: GeminiDeepResearchAsk, key: str | None, place: Place
) -> GeminiResearchClient:
    return GeminiResearchClient(agent, ask, key)


def request_fields(
    ask: GeminiDeepResearchAsk, question: Question
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is sent to buy a report: what the SDK must know, and what goes over it as it stands.

    `agent_config` among the parameters changes single settings; any other field replaces ours.
    """
    known: dict[str, Any] = {
        "agent": ask.model,
        "input": question.prompt,
        "background": True,
        "store": True,
        "agent_config": RESEARCH,
    }
    if question.earlier_id:
        known["previous_interaction_id"] = question.earlier_id
    more = dict(ask.parameters)
    if isinstance(given := more.get("agent_config"), dict):
        more["agent_config"] = RESEARCH | given
    return known, more


def _seen(body: str, remote_id: str | None, key: str | None) -> Seen | None:
    """A job as the answer shows it; None where it shows none.

    remote_id: its name where that is known already.
    """
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict):
        return None
    word, named = string(answer.get("status")) or "", string(answer.get("id"))
    ended = word in ENDS
    return Seen(
        remote_id=remote_id or (storable(named) if named else None),
        word=word,
        ended=ended,
        raw=redacted(body, key) if ended else None,
    )
