"""What the clients of agents behind an API share: JSON over HTTP, one base URL, one key.

A request that starts a job is sent once. If it may have arrived, the error says so
(`maybe_billed`) instead of the request being sent again. Polling is free.

Interfaces that answer in one request have no job to poll: if the connection breaks before the
answer is complete, the answer and the money paid for it are lost.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar
from urllib.parse import quote

from tasks.agents.agent import Gone, JobStatus
from tasks.agents.kind import AgentLimits, ApiAsk
from tasks.models.client import (
    classify_status,
    describe_error,
    find_error_status,
    parse_error,
    parse_json,
    redact_key,
)
from tasks.models.errors import Misconfigured, ModelError, RequestRejected, TransientError
from tasks.models.usage_counts import count_tokens

if TYPE_CHECKING:
    import httpx

CONFIGURED_IN = "configs/agents.yaml"
REFUSED_UNBILLED = frozenset({408, 429, 503})
"""Statuses that say "try later" before any work has begun. After another 5xx (an internal error, a
gateway that lost its backend) the job may exist."""


class ApiSettings(Protocol):
    """The settings that such a client needs."""

    @property
    def limits(self) -> AgentLimits: ...

    @property
    def key_env(self) -> str | None: ...

    def find_base_url(self) -> str: ...


AskT = TypeVar("AskT", bound=ApiSettings)


class ApiClient(Generic[AskT]):
    """A client of one agent behind a JSON API, without what differs between the interfaces."""

    address_key = "base_url"
    """Where an agent's entry has the address, for messages."""

    def __init__(self, agent: str, ask: AskT, key: str | None) -> None:
        """agent: its id, for messages. key: redacted from every message and answer."""
        from tasks.models.transport import ModelTransport  # slow to load

        self.agent = agent
        self.ask = ask
        self.base_url = ask.find_base_url()
        self._key = key
        self._transport = ModelTransport(max(16, ask.limits.concurrency))

    async def buy(self, path: str, body: Any, headers: Mapping[str, str] | None = None) -> Any:
        """Send one POST that may cost money and return the JSON answer.

        Raises:
            TransientError: with `maybe_billed` where the request may have been processed.
            RequestRejected, StopStage: the request was refused; nothing was bought.
        """
        return await self._request("POST", path, body, headers or {})

    async def get(self, path: str) -> Any:
        """Send a GET request, which costs nothing, and return the JSON answer.

        Raises:
            TransientError: try again later.
            Gone: HTTP 404 or 410.
            RequestRejected, StopStage: the request was refused.
        """
        return await self._request("GET", path, None, {})

    async def check_model(self, model: str) -> str:
        """Look the model up and describe the result.

        Raises:
            ModelError: the check failed; the message says what to do.
        """
        try:
            with self.explain_errors():
                await self.get(f"/models/{quote(model, safe='')}")
        except (Gone, RequestRejected) as error:
            raise self.unknown_model_error(model, error) from None
        return f"{self.base_url} accepts the key and knows the model {model}."

    @contextmanager
    def explain_errors(self) -> Iterator[None]:
        """Let the errors of a check say what to do about the address."""
        try:
            yield
        except TransientError as error:
            if error.kind == "connection":
                raise Misconfigured(
                    f"{self.agent}: {self.base_url} cannot be reached ({error}). Check "
                    f"`{self.address_key}` in {CONFIGURED_IN}, and your network."
                ) from None
            if error.kind == "garbled":
                raise Misconfigured(
                    f"{self.agent}: {self.base_url} does not answer as the expected interface "
                    f"({error}). Check `{self.address_key}` in {CONFIGURED_IN}."
                ) from None
            raise

    def unknown_model_error(self, model: str, reason: object) -> Misconfigured:
        return Misconfigured(
            f"{self.agent}: {self.base_url} knows no model {model!r} ({reason}). Check `model` and "
            f"`base_url` in {CONFIGURED_IN}."
        )

    async def close(self) -> None:
        await self._transport.aclose()

    def _key_headers(self) -> dict[str, str]:
        """Return the headers that hold the key."""
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}

    def _headers(self, more: Mapping[str, str]) -> dict[str, str]:
        return {"Content-Type": "application/json", **self._key_headers(), **more}

    async def _request(
        self, method: Literal["GET", "POST"], path: str, body: Any, headers: Mapping[str, str]
    ) -> Any:
        response = await self._transport.request(
            method,
            self.base_url + path,
            self._headers(headers),
            self.ask.limits.timeout_seconds,
            json=body,
        )
        buying = method == "POST"
        if not response.is_success:
            raise self._error_for(response, buying=buying)
        return parse_json(response, billable=buying)

    def _error_for(self, response: "httpx.Response", *, buying: bool) -> ModelError:
        code = response.status_code
        message, word = parse_error(response)
        message = redact_key(message, self._key)
        return self._classify_status(code, message, response.headers, buying=buying, word=word)

    def _classify_status(
        self,
        code: int,
        message: str,
        headers: Mapping[str, str],
        *,
        buying: bool,
        word: str | None = None,
    ) -> ModelError:
        if not buying and code in (404, 410):
            return Gone(f"HTTP {code}: {message[:300]}")
        error = classify_status(
            code, message, headers, self.agent, CONFIGURED_IN, self.ask.key_env, word
        )
        if buying and isinstance(error, TransientError):
            error.maybe_billed = code not in REFUSED_UNBILLED
        return error

    def find_refusal(self, error: Any) -> ModelError | None:
        """Return what an error that came with HTTP 200 in the place of an answer means: what its
        status or its words would mean; None if there is none, or neither is known."""
        code = find_error_status(error) if error else None
        if code is None:
            return None
        message, word = describe_error(error)
        message = redact_key(message, self._key)
        return self._classify_status(code, message, {}, buying=True, word=word)

    def _render_answer(self, answer: Any) -> str:
        """Return an answer as it is stored: as JSON, without the key.

        Raises:
            RecursionError: it is nested too deeply.
        """
        return redact_key(json.dumps(answer, ensure_ascii=False), self._key)


class SynchronousClient(ApiClient[ApiAsk]):
    """What the clients share of interfaces that answer in one request; each has its own `start`."""

    async def poll(self, remote_id: str) -> JobStatus:
        raise Gone(f"{self.agent}: {self.base_url} answers in one request; there is no job to poll")

    async def check(self) -> str:
        return await self.check_model(self.ask.model)

    async def buy_object(self, path: str, body: Any) -> dict[str, Any]:
        """Send one POST, once, and return its answer.

        Raises:
            TransientError, RequestRejected, StopStage: as `AgentClient.start`.
        """
        answer = await self.buy(path, body)
        if not isinstance(answer, dict):
            raise TransientError("the answer is not a JSON object", "garbled", maybe_billed=True)
        if refusal := self.find_refusal(self.find_lone_error(answer)):
            raise refusal
        return answer

    def find_lone_error(self, answer: dict[str, Any]) -> Any:
        """Return the error that came in the place of an answer; None if anything was bought."""
        usage = answer.get("usage")
        billed = count_tokens(usage.get("output_tokens")) if isinstance(usage, dict) else None
        parts = answer.get("output") or answer.get("content")
        return None if parts or billed else answer.get("error")

    def ended_status(self, remote_state: str, answer: Any) -> JobStatus:
        """Return the status of an answered job: the whole answer, with the key redacted."""
        try:
            raw = self._render_answer(answer)
        except RecursionError:
            raise TransientError(
                "the answer is nested too deeply to be stored", "garbled", maybe_billed=True
            ) from None
        return JobStatus(remote_id=None, remote_state=remote_state, ended=True, raw=raw)
