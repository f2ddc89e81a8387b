"""Gemini Deep Research: Google's Interactions API in the background, through google-genai.

The SDK's retries are turned off: by default it sends a request up to five times, and each buys a
report. Answers are stored as received, not as the SDK's types hold them.
"""

import json
from collections.abc import Awaitable
from typing import Any
from urllib.parse import quote

import httpx
from google import genai
from google.genai import _interactions as refusals
from google.genai import types

from tasks.agents.agent import Gone, JobRequest, JobStatus
from tasks.agents.http import CONFIGURED_IN, REFUSED_UNBILLED, explain_check_error, get_base_url
from tasks.agents.json_values import child, string
from tasks.agents.kinds import AgentFolders
from tasks.agents.polled_jobs import NO_SUCH_JOB
from tasks.configuration.agents import GeminiDeepResearchAsk
from tasks.models.client import classify_status, redact_key
from tasks.models.errors import Misconfigured, ModelError, RequestRejected, TransientError
from tasks.models.gemini import classify_rate_limit, classify_sdk_error, parse_error_details
from tasks.models.transport import create_http_client
from tasks.warehouse.rows import replace_surrogates

END_STATES = frozenset(
    {"completed", "failed", "cancelled", "incomplete", "budget_exceeded", "requires_action"}
)
"""Every other word, known (`queued`, `in_progress`, `requires_continuation`) or not, is waited
for. `requires_action` waits for us: the deadline would pass."""
AGENT_CONFIG = {
    "type": "deep-research",
    "thinking_summaries": "auto",
    "visualization": "off",
    "collaborative_planning": False,
}


class GeminiResearchClient:
    """A client of one agent."""

    def __init__(self, agent: str, ask: GeminiDeepResearchAsk, key: str | None) -> None:
        self._agent = agent
        self._ask = ask
        self._key = key
        self._base_url = get_base_url(ask, "") or None
        seconds = ask.limits.timeout_seconds
        self._http = create_http_client(max(16, ask.limits.concurrency), seconds)
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

    async def start(self, request: JobRequest) -> JobStatus:
        fields, extra = build_request(self._ask, request)
        body = await self._read_body(
            self._interactions.create(**fields, extra_body=extra), buying=True
        )
        status = _parse_status(body, None, self._key)
        if status is None or status.remote_id is None:
            raise TransientError(
                "the answer names no interaction; one may have been created",
                "garbled",
                maybe_billed=True,
            )
        return status

    async def poll(self, remote_id: str) -> JobStatus:
        try:
            body = await self._get_job(remote_id)
        except (
            RequestRejected
        ) as error:  # not "unknown": what was paid for is not given up for that
            raise TransientError(str(error), "server", code=error.code) from None
        status = _parse_status(body, remote_id, self._key)
        if status is None:
            raise TransientError("the answer is not a JSON object with an interaction", "garbled")
        return status

    async def check(self) -> str:
        where = self._base_url or "Google's address"
        try:
            await self._get_job(NO_SUCH_JOB)
        except (Gone, RequestRejected):
            return (
                f"{self._agent}: {where} answers and accepts the key. Whether there is an agent "
                f"{self._ask.model} is only known once a report is bought."
            )
        except ModelError as error:
            raise explain_check_error(error, self._agent, where) from None
        return (
            f"{self._agent}: {where} answers, but knows a job that cannot exist. Check that "
            f"`base_url` in {CONFIGURED_IN} is the provider's."
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def _get_job(self, remote_id: str) -> str:
        return await self._read_body(
            self._interactions.get(quote(remote_id, safe="")), buying=False
        )

    async def _read_body(self, call: Awaitable[Any], *, buying: bool) -> str:
        """Await an SDK call and return the body of the answer, unparsed."""
        try:
            response: httpx.Response = (await call).http_response
        except refusals.APIStatusError as error:
            raise self._error_for(error, buying=buying) from None
        except Exception as error:
            raise classify_sdk_error(error, self._key, billable=buying) from None
        if not response.is_success:  # the SDK treats a redirect as an answer
            raise classify_status(response.status_code, "", {}, self._agent, CONFIGURED_IN)
        return response.text

    def _error_for(self, error: refusals.APIStatusError, *, buying: bool) -> ModelError:
        code, headers = error.response.status_code, error.response.headers
        text = string(child(error.body, "error", "message")) or str(error.body or error)
        message = redact_key(text, self._key)
        if code == 429:
            return classify_rate_limit(message, parse_error_details(error.body), headers)
        if code == 400 and "API_KEY_INVALID" in str(error.body):
            return Misconfigured(
                f"{self._agent}: the key is not accepted ({message[:200]}). Check the variable "
                f"that `{CONFIGURED_IN}` names for it."
            )
        if not buying and code in (404, 410):
            return Gone(f"HTTP {code}: {message[:300]}")
        meaning = classify_status(code, message, headers, self._agent, CONFIGURED_IN)
        if buying and isinstance(meaning, TransientError):
            meaning.maybe_billed = code not in REFUSED_UNBILLED
        return meaning


def open_client(
    agent: str, ask: GeminiDeepResearchAsk, key: str | None, folders: AgentFolders
) -> GeminiResearchClient:
    return GeminiResearchClient(agent, ask, key)


def build_request(
    ask: GeminiDeepResearchAsk, request: JobRequest
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Build the request for a report: the SDK's arguments, and the extra body that overrides them.

    `agent_config` in the parameters is merged into ours; any other field replaces ours.
    """
    fields: dict[str, Any] = {
        "agent": ask.model,
        "input": request.prompt,
        "background": True,
        "store": True,
        "agent_config": AGENT_CONFIG,
    }
    if request.previous_remote_id:
        fields["previous_interaction_id"] = request.previous_remote_id
    extra = dict(ask.parameters)
    if isinstance(given := extra.get("agent_config"), dict):
        extra["agent_config"] = AGENT_CONFIG | given
    return fields, extra


def _parse_status(body: str, remote_id: str | None, key: str | None) -> JobStatus | None:
    """Return the job's status; None if the answer holds none.

    remote_id: the job's id, if already known.
    """
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict):
        return None
    state, new_id = string(answer.get("status")) or "", string(answer.get("id"))
    ended = state in END_STATES
    return JobStatus(
        remote_id=remote_id or (replace_surrogates(new_id) if new_id else None),
        remote_state=state,
        ended=ended,
        raw=redact_key(body, key) if ended else None,
    )
