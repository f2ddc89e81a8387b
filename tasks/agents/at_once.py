"""Interfaces that answer in one request: the report is bought and delivered by the same POST.

There is no job to look at: a connection that breaks before the answer is whole has lost it, and
what was paid for it.
"""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from tasks.agents.agent import Gone, Question, Seen
from tasks.agents.http import CONFIGURED_IN, JsonApi, check_reached
from tasks.configuration.agents import ApiAsk
from tasks.models.client import redacted
from tasks.models.errors import Misconfigured, ModelError, Rejected, Transient


class AtOnce:
    """One agent behind such an interface."""

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
        """The answer to one POST, sent once.

        Raises:
            Transient, Rejected, StopsTheStage: as `AgentClient.start`.
        """
        answer = await self._api.buy(path, body)
        if not isinstance(answer, dict):
            raise Transient("the answer is no JSON object", "garbled", maybe_billed=True)
        return answer

    def seen(self, word: str, answer: Any) -> Seen:
        """An answer that came, kept whole, without the key should it repeat it."""
        try:
            raw = json.dumps(answer, ensure_ascii=False)
        except RecursionError:
            raise Transient(
                "the answer is nested too deeply to be kept", "garbled", maybe_billed=True
            ) from None
        return Seen(remote_id=None, word=word, ended=True, raw=redacted(raw, self._key))

    async def look(self, remote_id: str) -> Seen:
        raise Gone(
            f"{self.agent}: {self.base_url} answers in one request, there is nothing to look at"
        )

    async def get(self, path: str) -> Any:
        """GET for `check`.

        Raises:
            Gone: HTTP 404 or 410.
            ModelError: what is wrong, in words a person can act on.
        """
        try:
            return await self._api.get(path)
        except Gone:
            raise
        except ModelError as error:
            raise self.in_words(error) from None

    def in_words(self, error: ModelError) -> ModelError:
        """For `check`: what went wrong, in words a person can act on."""
        return check_reached(error, self.agent, self.base_url)

    async def check_model(self, model: str) -> str:
        """Ask for the model's entry; what was found.

        Raises:
            ModelError: what is wrong, in words a person can act on.
        """
        try:
            await self.get(f"/models/{quote(model, safe='')}")
        except (Gone, Rejected) as error:
            raise no_such_model(self.agent, self.base_url, model, error) from None
        return f"{self.agent}: {self.base_url} accepts the key and knows the model {model}."

    async def close(self) -> None:
        await self._api.close()


def bearer(key: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def messages(question: Question) -> list[dict[str, Any]]:
    """All that was said, the newest last."""
    roles = {"user": "user", "agent": "assistant"}
    said = [{"role": roles[turn.role], "content": turn.text} for turn in question.earlier]
    return [*said, {"role": "user", "content": question.prompt}]


def no_such_model(agent: str, base_url: str, model: str, error: object) -> Misconfigured:
    return Misconfigured(
        f"{agent}: {base_url} knows no model {model!r} ({error}). Check `model` and `base_url` in "
        f"{CONFIGURED_IN}."
    )
