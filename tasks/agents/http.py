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
from tasks.models.client import no_answer, redacted, refusal
from tasks.models.errors import Misconfigured, ModelError, QuotaExhausted, Transient
from tasks.models.transport import http_client

CONFIGURED_IN = "configs/agents.yaml"
SURELY_REFUSED = frozenset({408, 429, 503})
"""Statuses above 400 that say "later" before anything was begun. Of others above 500 (an inner
error, a gateway that lost its backend) nobody knows whether the job was made."""
QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
MOVED = frozenset({301, 302, 307, 308})
"""Redirects that say "nothing was done here"; they are not followed."""
MAX_ANSWER_BYTES = 64 * 1024 * 1024
ENCODINGS = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers that are not true any more of a body that has been unpacked."""


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
            response = await self._answered(method, path, body, dict(headers or {}))
        except httpx.TransportError as error:
            raise no_answer(error) from None
        except httpx.DecodingError as error:  # compressed, and not as it says
            raise Transient(str(error), "garbled", maybe_billed=buying) from None
        if response.status_code >= 400:
            raise self._meaning(response, buying=buying)
        if response.status_code in MOVED:
            raise Misconfigured(
                f"{self._agent}: {self._base_url} sends its callers elsewhere (HTTP "
                f"{response.status_code}), where no key is taken to. Check `base_url` in "
                f"{CONFIGURED_IN}."
            )
        try:
            answer = response.json()
        except (ValueError, RecursionError):
            kind = response.headers.get("content-type", "nothing")
            raise Transient(
                f"HTTP {response.status_code} with {kind} instead of JSON",
                "garbled",
                maybe_billed=buying,
                code=response.status_code,
            ) from None
        return answer

    async def _answered(
        self, method: str, path: str, body: Any, headers: dict[str, str]
    ) -> httpx.Response:
        """The whole answer, as far as it is not larger than any report can be."""
        url = self._base_url + path
        async with self._http.stream(
            method, url, json=body, headers=self._headers | headers
        ) as response:
            content = bytearray()
            async for part in response.aiter_bytes():
                content += part
                if len(content) > MAX_ANSWER_BYTES:
                    break  # cut, it is no JSON any more: garbled
        return httpx.Response(
            response.status_code,
            headers={n: v for n, v in response.headers.items() if n not in ENCODINGS},
            content=bytes(content),
        )

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
