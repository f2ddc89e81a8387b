"""JSON over HTTP as all agents' interfaces use it: buying is one request, looking is free.

The difference that money makes: a request that starts a job is sent once, and where nobody can
say whether it arrived, that is said (`maybe_billed`) instead of sending it again.
"""

import os
from collections.abc import Mapping
from typing import Any

import httpx

from tasks.agents.agent import Gone
from tasks.configuration.agents import ApiAsk
from tasks.models.client import error_of, json_of, redacted, refusal
from tasks.models.errors import Misconfigured, ModelError, QuotaExhausted, Transient
from tasks.models.transport import ModelTransport

CONFIGURED_IN = "configs/agents.yaml"
SURELY_REFUSED = frozenset({408, 429, 503})
"""Statuses above 400 that say "later" before anything was begun. Of others above 500 (an inner
error, a gateway that lost its backend) nobody knows whether the job was made."""
QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})


class JsonApi:
    """One key and one address."""

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
        """agent: its id, for what is said to people. secret: never shown, whoever repeats it."""
        self._agent = agent
        self._base_url = base_url.rstrip("/")
        self._headers = {"Content-Type": "application/json", **headers}
        self._secret = secret
        self._timeout_seconds = timeout_seconds
        self._transport = ModelTransport(connections)

    async def buy(self, path: str, body: Any, headers: Mapping[str, str] | None = None) -> Any:
        """POST once what may cost money; the JSON of the answer.

        Raises:
            Transient: with `maybe_billed` where it may have been worked on.
            Rejected, StopsTheStage: it was refused, nothing was bought.
        """
        return await self._ask("POST", path, body, headers, buying=True)

    async def get(self, path: str) -> Any:
        """GET what costs nothing.

        Raises:
            Transient: ask again later.
            Gone: HTTP 404 or 410.
            Rejected, StopsTheStage: it will not be answered.
        """
        return await self._ask("GET", path, None, None, buying=False)

    async def close(self) -> None:
        await self._transport.aclose()

    async def _ask(
        self, method: str, path: str, body: Any, headers: Mapping[str, str] | None, *, buying: bool
    ) -> Any:
        response = await self._transport.whole(
            method, self._base_url + path, self._headers | dict(headers or {}),
            self._timeout_seconds, json=body,
        )  # fmt: skip
        if not response.is_success:
            raise self._meaning(response, buying=buying)
        return json_of(response, buying=buying)

    def _meaning(self, response: httpx.Response, *, buying: bool) -> ModelError:
        code = response.status_code
        message, word = error_of(response)
        message = redacted(message, self._secret)
        if word in QUOTA_CODES or code == 402:
            return QuotaExhausted(
                f"{self._agent}: the account has no money or quota left ({message[:200]}). What "
                "was answered is kept; add some and run again."
            )
        if not buying and code in (404, 410):
            return Gone(f"HTTP {code}: {message[:300]}")
        error = refusal(code, message, response.headers, self._agent, CONFIGURED_IN)
        if buying and isinstance(error, Transient):
            error.maybe_billed = code not in SURELY_REFUSED
        return error


def endpoint(ask: ApiAsk, default: str) -> str:
    """Where an agent is asked: the variable that its entry names, its entry, or `default`."""
    named = os.environ.get(ask.base_url_env, "").strip() if ask.base_url_env else ""
    return (named or ask.base_url or default).rstrip("/")


def check_reached(error: ModelError, agent: str, base_url: str) -> ModelError:
    """For `check`: what is wrong with an address, in words a person can act on."""
    if isinstance(error, Transient) and error.kind == "connection":
        return Misconfigured(
            f"{agent}: {base_url} cannot be reached ({error}). Check its address "
            f"in {CONFIGURED_IN}, and your network."
        )
    if isinstance(error, Transient) and error.kind == "garbled":
        return Misconfigured(
            f"{agent}: what answers at {base_url} is not the interface that was expected "
            f"({error}). Check `base_url` in {CONFIGURED_IN}."
        )
    return error
