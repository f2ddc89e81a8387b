"""A client of your own service: POST the assignment, then GET the job until it has ended.

    POST url   {"job", "edition", "assignment", "title", "kind", "query", "prompt", "banned",
                "conversation": [{"role": "user"|"agent", "text"}]}
               with `Idempotency-Key: <job>`: the same key must not start a second report
    answer     {"state": "done", "report": "…", …}      at once, see `report_form`,
               or {"job_id": "…"}                       the job to poll
    GET url/job_id     {"state": "done", "report": "…", …}, {"state": "failed", "error": "…"},
                       or any other state, which means "in progress"

Redirects are not followed, so that the key goes to the configured address only.
"""

import json
import os
from typing import Any
from urllib.parse import quote

from tasks.agents.agent import Gone, JobAnswer, JobRequest, JobStatus
from tasks.agents.http import CONFIGURED_IN, JsonApi, explain_check_error
from tasks.agents.json_values import count, parse_object, string
from tasks.agents.kinds import AgentFolders
from tasks.agents.report_form import assignment_payload, drop_nulls, parse_report_form
from tasks.configuration.agents import HttpAsk
from tasks.models.client import redact_key
from tasks.models.errors import Misconfigured, ModelError, RequestRejected, TransientError
from tasks.warehouse.rows import replace_surrogates

END_STATES = frozenset({"done", "failed"})
MAX_JOB_ID_CHARS = 1_000


class HttpJobClient:
    """A client of one service."""

    def __init__(self, agent: str, ask: HttpAsk, key: str | None) -> None:
        override = os.environ.get(ask.url_env, "").strip() if ask.url_env else ""
        self._agent = agent
        self._url = (override or ask.url).rstrip("/")
        self._key = key
        self._api = JsonApi(
            agent,
            self._url,
            {"Authorization": f"Bearer {key}"} if key else {},
            secret=key,
            timeout_seconds=ask.limits.timeout_seconds,
            connections=max(16, ask.limits.concurrency),
        )

    async def start(self, request: JobRequest) -> JobStatus:
        answer = await self._api.buy(
            "", assignment_payload(request), {"Idempotency-Key": request.job}
        )
        status = self._parse_status(answer, None)
        if status is None or (not status.ended and status.remote_id is None):
            raise TransientError(
                f"{self._url} answered with neither a `job_id` nor a final `state`; a report may "
                "have been started",
                "garbled",
                maybe_billed=True,
            )
        return status

    async def poll(self, remote_id: str) -> JobStatus:
        try:
            answer = await self._api.get(f"/{quote(remote_id, safe='')}")
        except RequestRejected as error:
            raise TransientError(str(error), "server", code=error.code) from None
        status = self._parse_status(answer, remote_id)
        if status is None:
            raise TransientError(f"{self._url} did not answer with a JSON object", "garbled")
        return status

    async def check(self) -> str:
        """GET the address; any answer passes except a refused key or a server error."""
        try:
            await self._api.get("")
        except (Gone, RequestRejected):
            pass
        except Misconfigured:
            raise
        except TransientError as error:
            if error.kind != "garbled":
                raise self._explain(error) from None
        return (
            f"{self._agent}: {self._url} answers and did not refuse the key. Whether it writes "
            "reports is only known once one is requested."
        )

    async def close(self) -> None:
        await self._api.close()

    def _explain(self, error: TransientError) -> ModelError:
        if error.code is not None:
            return Misconfigured(
                f"{self._agent}: {self._url} answers with an error ({error}). Check the service, "
                f"or `url` in {CONFIGURED_IN}."
            )
        return explain_check_error(error, self._agent, self._url)

    def _parse_status(self, answer: Any, remote_id: str | None) -> JobStatus | None:
        """Return the job's status; None if the answer holds none."""
        if not isinstance(answer, dict):
            return None
        state = string(answer.get("state")) or ""
        ended = state in END_STATES
        try:
            raw = json.dumps(answer, ensure_ascii=False) if ended else None
        except RecursionError:
            return None
        return JobStatus(
            remote_id=remote_id or _parse_job_id(answer.get("job_id")),
            remote_state=state,
            ended=ended,
            raw=None if raw is None else redact_key(raw, self._key),
        )


def open_client(agent: str, ask: HttpAsk, key: str | None, folders: AgentFolders) -> HttpJobClient:
    return HttpJobClient(agent, ask, key)


def read(raw: str) -> JobAnswer:
    """Read the answer of an ended job.

    Raises:
        UnreadableJobAnswer: it does not match the form; the message names the fields.
    """
    body = drop_nulls(parse_object(raw, "an ended job of a service"))
    if body.get("state") == "failed":
        body.setdefault("error", "the service reports `failed` without a reason")
    return parse_report_form(body)


def _parse_job_id(value: Any) -> str | None:
    """Return a job id as text, also where it is a number."""
    number = count(value)
    text = str(number) if number is not None else string(value)
    return replace_surrogates(text) if text and len(text) <= MAX_JOB_ID_CHARS else None
