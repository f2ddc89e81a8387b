"""Your own service: POST the assignment, then GET the job until it has ended.

    POST url   {"job", "edition", "assignment", "title", "kind", "query", "prompt", "banned",
                "conversation": [{"role": "user"|"agent", "text"}]}
               with `Idempotency-Key: <job>`: the same key must not begin a second report
    answer     {"state": "done", "report": "…", …}      at once; the form of `given`
               or {"job_id": "…"}                       what is looked at from now on
    GET url/job_id     {"state": "done", "report": "…", …}, {"state": "failed", "error": "…"},
                       or any other state: it is waited for

Redirects are not followed: the key goes to the configured address only.
"""

import json
import os
from typing import Any
from urllib.parse import quote

from tasks.agents.agent import Answer, Gone, Question, Seen
from tasks.agents.given import answer_of, told, without_nulls
from tasks.agents.http import CONFIGURED_IN, JsonApi, check_reached
from tasks.agents.json_values import count, parsed_object, string
from tasks.agents.kinds import Place
from tasks.configuration.agents import HttpAsk
from tasks.models.client import redacted
from tasks.models.errors import Misconfigured, ModelError, Rejected, Transient
from tasks.warehouse.rows import storable

ENDS = frozenset({"done", "failed"})
MAX_JOB_ID_CHARS = 1_000


class HttpJobClient:
    """One service."""

    def __init__(self, agent: str, ask: HttpAsk, key: str | None) -> None:
        named = os.environ.get(ask.url_env, "").strip() if ask.url_env else ""
        self._agent = agent
        self._url = (named or ask.url).rstrip("/")
        self._key = key
        self._api = JsonApi(
            agent,
            self._url,
            {"Authorization": f"Bearer {key}"} if key else {},
            secret=key,
            timeout_seconds=ask.limits.timeout_seconds,
            connections=max(16, ask.limits.concurrency),
        )

    async def start(self, question: Question) -> Seen:
        answer = await self._api.buy("", told(question), {"Idempotency-Key": question.job})
        seen = self._seen(answer, None)
        if seen is None or (not seen.ended and seen.remote_id is None):
            raise Transient(
                f"{self._url} answered with neither a `job_id` nor an ended `state`: a report may "
                "have been begun",
                "garbled",
                maybe_billed=True,
            )
        return seen

    async def look(self, remote_id: str) -> Seen:
        try:
            answer = await self._api.get(f"/{quote(remote_id, safe='')}")
        except Rejected as error:
            raise Transient(str(error), "server", code=error.code) from None
        seen = self._seen(answer, remote_id)
        if seen is None:
            raise Transient(f"{self._url} answered with no JSON object", "garbled")
        return seen

    async def check(self) -> str:
        """GET the address: every answer will do that is no refusal of the key and no fault."""
        try:
            await self._api.get("")
        except (Gone, Rejected):
            pass
        except Misconfigured:
            raise
        except Transient as error:
            if error.kind != "garbled":
                raise self._in_words(error) from None
        return (
            f"{self._agent}: {self._url} answers and did not refuse the key. Whether it makes "
            "reports shows only when one is asked for."
        )

    async def close(self) -> None:
        await self._api.close()

    def _in_words(self, error: Transient) -> ModelError:
        if error.code is not None:
            return Misconfigured(
                f"{self._agent}: {self._url} is out of order ({error}). Look at the service, or "
                f"check `url` in {CONFIGURED_IN}."
            )
        return check_reached(error, self._agent, self._url)

    def _seen(self, answer: Any, remote_id: str | None) -> Seen | None:
        """A job as the answer shows it; None where it shows none."""
        if not isinstance(answer, dict):
            return None
        word = string(answer.get("state")) or ""
        ended = word in ENDS
        try:
            raw = json.dumps(answer, ensure_ascii=False) if ended else None
        except RecursionError:
            return None
        return Seen(
            remote_id=remote_id or _job_id(answer.get("job_id")),
            word=word,
            ended=ended,
            raw=None if raw is None else redacted(raw, self._key),
        )


def open_client(agent: str, ask: HttpAsk, key: str | None, place: Place) -> HttpJobClient:
    return HttpJobClient(agent, ask, key)


def read(raw: str) -> Answer:
    """An ended job.

    Raises:
        UnreadableAnswer: it is not of the form; the message names the fields.
    """
    body = without_nulls(parsed_object(raw, "an ended job of a service"))
    if body.get("state") == "failed":
        body.setdefault("error", "the service says `failed`, and not why")
    return answer_of(body)


def _job_id(said: Any) -> str | None:
    """A job's name, also where it is a number."""
    number = count(said)
    named = str(number) if number is not None else string(said)
    return storable(named) if named and len(named) <= MAX_JOB_ID_CHARS else None
