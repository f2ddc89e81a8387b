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

from tasks.agents.agent import JobRequest, JobStatus
from tasks.agents.http import CONFIGURED_IN
from tasks.agents.json_values import child, string
from tasks.agents.polled_jobs import PolledClient
from tasks.configuration.agents import ApiAsk
from tasks.models.client import classify_status, redact_key
from tasks.models.errors import ModelError
from tasks.models.gemini import classify_google_error, classify_sdk_error
from tasks.models.transport import build_timeout

AGENT_CONFIG = {
    "type": "deep-research",
    "thinking_summaries": "auto",
    "visualization": "off",
    "collaborative_planning": False,
}


class GeminiResearchClient(PolledClient[ApiAsk]):
    """A client of one agent."""

    end_states = frozenset(
        {"completed", "failed", "cancelled", "incomplete", "budget_exceeded", "requires_action"}
    )
    """Every other word, known (`queued`, `in_progress`, `requires_continuation`) or not, is waited
    for. `requires_action` waits for us: the deadline would pass."""

    def __init__(self, agent: str, ask: ApiAsk, key: str | None) -> None:
        super().__init__(agent, ask, key)
        seconds = ask.limits.timeout_seconds
        client = genai.Client(
            api_key=key or "none",
            http_options=types.HttpOptions(
                base_url=None if self.base_url == ask.provider_url else self.base_url,
                timeout=round(seconds * 1000),
                httpx_async_client=httpx.AsyncClient(
                    transport=self._transport, timeout=build_timeout(seconds)
                ),
                retry_options=types.HttpRetryOptions(attempts=1),
            ),
        )
        self._interactions: Any = client.aio.interactions.with_raw_response

    def build_request(self, request: JobRequest) -> dict[str, Any]:
        """Build the request for a report: the SDK's arguments.

        `agent_config` in the parameters is merged into ours; any other field replaces ours.
        """
        fields: dict[str, Any] = {
            "agent": self.ask.model,
            "input": request.prompt,
            "background": True,
            "store": True,
            "agent_config": AGENT_CONFIG,
        }
        if request.previous_remote_id:
            fields["previous_interaction_id"] = request.previous_remote_id
        extra = dict(self.ask.parameters)
        if isinstance(given := extra.get("agent_config"), dict):
            extra["agent_config"] = AGENT_CONFIG | given
        return fields | {"extra_body": extra}

    async def _create_job(self, request: JobRequest) -> str:
        call = self._interactions.create(**self.build_request(request))
        return await self._read_body(call, buying=True)

    async def _get_job(self, remote_id: str) -> str:
        call = self._interactions.get(quote(remote_id, safe=""))
        return await self._read_body(call, buying=False)

    async def _read_body(self, call: Awaitable[Any], *, buying: bool) -> str:
        """Await an SDK call and return the body of the answer, unparsed."""
        try:
            response: httpx.Response = (await call).http_response
        except refusals.APIStatusError as error:
            raise self._sdk_error(error, buying=buying) from None
        except Exception as error:
            raise classify_sdk_error(error, self._key, billable=buying) from None
        if not response.is_success:  # the SDK treats a redirect as an answer
            raise classify_status(response.status_code, "", {}, self.agent, CONFIGURED_IN)
        return response.text

    def _sdk_error(self, error: refusals.APIStatusError, *, buying: bool) -> ModelError:
        code, headers = error.response.status_code, error.response.headers
        text = string(child(error.body, "error", "message")) or str(error.body or error)
        message = redact_key(text, self._key)
        known = classify_google_error(code, message, error.body, headers, self.agent, CONFIGURED_IN)
        return known or self._classify_status(code, message, headers, buying=buying)

    def _parse_status(self, answer: str, remote_id: str | None) -> JobStatus | None:
        """Return the job's status, with the answer as received."""
        try:
            status = super()._parse_status(json.loads(answer), remote_id)
        except (ValueError, RecursionError):
            return None
        if status is None or not status.ended:
            return status
        return status.model_copy(update={"raw": redact_key(answer, self._key)})
