"""Interfaces that answer in one request: the same POST buys and delivers the report.

There is no job to poll: if the connection breaks before the answer is complete, the answer and
the money paid for it are lost.
"""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from tasks.agents.agent import Gone, JobRequest, JobStatus
from tasks.agents.http import CONFIGURED_IN, JsonApi, explain_check_error
from tasks.configuration.agents import ApiAsk
from tasks.models.client import redact_key
from tasks.models.errors import Misconfigured, ModelError, RequestRejected, TransientError


class SynchronousApi:
    """A client of one agent behind such an interface."""

    def __init__(
        self, agent: str, ask: ApiAsk, key: str | None, base_url: str, headers: Mapping[str, str]
    ) -> None:
        self.agent = agent
        self.base_url = base_url
        self._key = key
        self._api = JsonApi(
            agent,
            base_url,
            headers,
            secret=key,
            timeout_seconds=ask.limits.timeout_seconds,
            connections=max(16, ask.limits.concurrency),
        )

    async def buy(self, path: str, body: Any) -> dict[str, Any]:
        """Send one POST, once, and return its answer.

        Raises:
            TransientError, RequestRejected, StopStage: as `AgentClient.start`.
        """
        answer = await self._api.buy(path, body)
        if not isinstance(answer, dict):
            raise TransientError("the answer is not a JSON object", "garbled", maybe_billed=True)
        return answer

    def ended_status(self, remote_state: str, answer: Any) -> JobStatus:
        """Return the status of an answered job: the whole answer, with the key redacted."""
        try:
            raw = json.dumps(answer, ensure_ascii=False)
        except RecursionError:
            raise TransientError(
                "the answer is nested too deeply to be stored", "garbled", maybe_billed=True
            ) from None
        raw = redact_key(raw, self._key)
        return JobStatus(remote_id=None, remote_state=remote_state, ended=True, raw=raw)

    async def poll(self, remote_id: str) -> JobStatus:
        raise Gone(f"{self.agent}: {self.base_url} answers in one request; there is no job to poll")

    async def get(self, path: str) -> Any:
        """Send a GET request for `check`.

        Raises:
            Gone: HTTP 404 or 410.
            ModelError: the check failed; the message says what to do.
        """
        try:
            return await self._api.get(path)
        except Gone:
            raise
        except ModelError as error:
            raise self.explain(error) from None

    def explain(self, error: ModelError) -> ModelError:
        """Turn an error of `check` into one that says what to do."""
        return explain_check_error(error, self.agent, self.base_url)

    async def check_model(self, model: str) -> str:
        """Look the model up and describe the result.

        Raises:
            ModelError: the check failed; the message says what to do.
        """
        try:
            await self.get(f"/models/{quote(model, safe='')}")
        except (Gone, RequestRejected) as error:
            raise unknown_model_error(self.agent, self.base_url, model, error) from None
        return f"{self.agent}: {self.base_url} accepts the key and knows the model {model}."

    async def close(self) -> None:
        await self._api.close()


def bearer_header(key: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def build_messages(request: JobRequest) -> list[dict[str, Any]]:
    """Return the whole conversation as chat messages, oldest first."""
    roles = {"user": "user", "agent": "assistant"}
    history = [{"role": roles[m.role], "content": m.text} for m in request.history]
    return [*history, {"role": "user", "content": request.prompt}]


def unknown_model_error(agent: str, base_url: str, model: str, error: object) -> Misconfigured:
    return Misconfigured(
        f"{agent}: {base_url} knows no model {model!r} ({error}). Check `model` and `base_url` in "
        f"{CONFIGURED_IN}."
    )
