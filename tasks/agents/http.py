"""JSON over HTTP for all agents' interfaces: buying takes one request, polling is free.

A request that starts a job is sent once. If it may have arrived, the error says so
(`maybe_billed`) instead of the request being sent again.
"""

import os
from collections.abc import Mapping
from typing import Any

import httpx

from tasks.agents.agent import Gone
from tasks.configuration.agents import ApiAsk
from tasks.models.client import classify_status, parse_error, parse_json, redact_key
from tasks.models.errors import Misconfigured, ModelError, QuotaExhausted, TransientError
from tasks.models.transport import ModelTransport

CONFIGURED_IN = "configs/agents.yaml"
REFUSED_UNBILLED = frozenset({408, 429, 503})
"""Statuses that say "try later" before any work has begun. After another 5xx (an internal error, a
gateway that lost its backend) the job may exist."""
QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})


class JsonApi:
    """A JSON API at one base URL, used with one key."""

    def __init__(
        self,
        agent: str,
        base_url: str,
        headers: Mapping[str, str],
        *,
        secret: str | None,
        timeout_seconds: float,
        connections: int = 16,
    ) -> None:
        """agent: its id, for messages. secret: redact_key from every message."""
        self._agent = agent
        self._base_url = base_url.rstrip("/")
        self._headers = {"Content-Type": "application/json", **headers}
        self._secret = secret
        self._timeout_seconds = timeout_seconds
        self._transport = ModelTransport(connections)

    async def buy(self, path: str, body: Any, headers: Mapping[str, str] | None = None) -> Any:
        """Send one POST that may cost money and return the JSON answer.

        Raises:
            TransientError: with `maybe_billed` where the request may have been processed.
            RequestRejected, StopStage: the request was refused; nothing was bought.
        """
        return await self._request("POST", path, body, headers, buying=True)

    async def get(self, path: str) -> Any:
        """Send a GET request, which costs nothing, and return the JSON answer.

        Raises:
            TransientError: try again later.
            Gone: HTTP 404 or 410.
            RequestRejected, StopStage: the request was refused.
        """
        return await self._request("GET", path, None, None, buying=False)

    async def close(self) -> None:
        await self._transport.aclose()

    async def _request(
        self, method: str, path: str, body: Any, headers: Mapping[str, str] | None, *, buying: bool
    ) -> Any:
        response = await self._transport.request(
            method, self._base_url + path, self._headers | dict(headers or {}),
            self._timeout_seconds, json=body,
        )  # fmt: skip
        if not response.is_success:
            raise self._error_for(response, buying=buying)
        return parse_json(response, billable=buying)

    def _error_for(self, response: httpx.Response, *, buying: bool) -> ModelError:
        code = response.status_code
        message, word = parse_error(response)
        message = redact_key(message, self._secret)
        if word in QUOTA_CODES or code == 402:
            return QuotaExhausted(
                f"{self._agent}: the account has no credit or quota left ({message[:200]}). "
                "Answers received so far are kept; top it up and run again."
            )
        if not buying and code in (404, 410):
            return Gone(f"HTTP {code}: {message[:300]}")
        error = classify_status(code, message, response.headers, self._agent, CONFIGURED_IN)
        if buying and isinstance(error, TransientError):
            error.maybe_billed = code not in REFUSED_UNBILLED
        return error


def get_base_url(ask: ApiAsk, default: str) -> str:
    """Return the agent's base URL: from its `base_url_env`, its `base_url`, or `default`."""
    override = os.environ.get(ask.base_url_env, "").strip() if ask.base_url_env else ""
    return (override or ask.base_url or default).rstrip("/")


def explain_check_error(error: ModelError, agent: str, base_url: str) -> ModelError:
    """Turn an error of `check` into one that says what to do about the address."""
    if isinstance(error, TransientError) and error.kind == "connection":
        return Misconfigured(
            f"{agent}: {base_url} cannot be reached ({error}). Check `base_url` in "
            f"{CONFIGURED_IN}, and your network."
        )
    if isinstance(error, TransientError) and error.kind == "garbled":
        return Misconfigured(
            f"{agent}: {base_url} does not answer as the expected interface ({error}). Check "
            f"`base_url` in {CONFIGURED_IN}."
        )
    return error
