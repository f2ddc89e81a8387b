"""JSON over HTTP as all agents' interfaces use it: buying is one request, looking is free.

The difference that money makes: a request that starts a job is sent once, and where nobody can
say whether it arrived, that is said (`maybe_billed`) instead of sending it again.
"""

from collections.abc import Mapping
from typing import Any

import httpx

from tasks.agents.agent import Gone
from tasks.models.client import no_answer, redacted, refusal
from tasks.models.errors import Misconfigured, ModelError, QuotaExhausted, Transient
from tasks.models.transport import http_client

CONFIGURED_IN = "configs/agents.yaml"
SURELY_REFUSED = frozenset({408, 429, 503})
"""Statuses above 400 that say "later" before anything was begun. Of others above 500 (an inner
error, a gateway that lost its backend) nobody knows whether the job was made."""
QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
MAX_ANSWER_BYTES = 64 * 1024 * 1024


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
        self._http = http_client(connections, timeout_seconds)

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
        await self._http.aclose()

    async def _ask(
        self, method: str, path: str, body: Any, headers: Mapping[str, str] | None, *, buying: bool
    ) -> Any:
        try:
            response = await self._http.request(
                method,
                self._base_url + path,
                json=body,
                headers=self._headers | dict(headers or {}),
            )
        except httpx.TransportError as error:
            raise no_answer(error) from None
        if response.status_code >= 400:
            raise self._meaning(response, buying=buying)
        try:
            answer = response.json()
        except ValueError:
            kind = response.headers.get("content-type", "nothing")
            raise Transient(
                f"HTTP {response.status_code} with {kind} instead of JSON",
                "garbled",
                maybe_billed=buying,
                code=response.status_code,
            ) from None
        return answer

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


def error_of(response: httpx.Response) -> tuple[str, str | None]:
    """The message of a refusal and the provider's word for it, in all forms that are known."""
    try:
        body: Any = response.json()
    except ValueError:
        return response.text[:500], None
    inner = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(inner, str):
        return inner, None
    if not isinstance(inner, dict):
        return str(body)[:500], None
    message = inner.get("message") or inner.get("detail") or inner
    word = inner.get("code") or inner.get("type")
    return str(message), word if isinstance(word, str) else None


def check_reached(error: ModelError, agent: str, base_url: str) -> ModelError:
    """For `check`: a connection that failed, in words a person can act on."""
    if isinstance(error, Transient) and error.kind == "connection":
        return Misconfigured(
            f"{agent}: {base_url} cannot be reached ({error}). Check `base_url` in "
            f"{CONFIGURED_IN}, and your network."
        )
    return error
