"""Jobs over JSON and HTTP: one POST creates a job, each GET returns its status."""

import json
from typing import Any
from urllib.parse import quote

from tasks.agents.agent import Gone, JobStatus
from tasks.agents.http import JsonApi, explain_check_error
from tasks.agents.json_values import string
from tasks.configuration.agents import ApiAsk
from tasks.models.client import redact_key
from tasks.models.errors import ModelError, RequestRejected, TransientError
from tasks.warehouse.rows import replace_surrogates

NO_SUCH_JOB = "evergreen-check-there-is-no-such-job"
"""Requested by `check`: "not found" means that the key was accepted."""


class PolledJobs:
    """The jobs of one agent at one base URL."""

    def __init__(
        self, agent: str, ask: ApiAsk, key: str | None, *, base_url: str, path: str,
        end_states: frozenset[str],
    ) -> None:  # fmt: skip
        """path: where jobs are created; `path/ID` is one of them. end_states: final states."""
        self._agent = agent
        self._base_url = base_url
        self._path = path
        self._end_states = end_states
        self._key = key
        self._api = JsonApi(
            agent,
            base_url,
            {"Authorization": f"Bearer {key}"} if key else {},
            secret=key,
            timeout_seconds=ask.limits.timeout_seconds,
            connections=max(16, ask.limits.concurrency),
        )

    async def start(self, body: dict[str, Any]) -> JobStatus:
        """Create a job with exactly one request.

        Raises:
            TransientError, RequestRejected, StopStage: as `AgentClient.start`.
        """
        answer = await self._api.buy(self._path, body)
        status = self._parse_status(answer, None)
        if status is None or status.remote_id is None:
            raise TransientError(
                "the answer names no job; one may have been created", "garbled", maybe_billed=True
            )
        return status

    async def poll(self, remote_id: str) -> JobStatus:
        """Return the status of a job.

        Raises:
            TransientError, Gone, StopStage: as `AgentClient.poll`.
        """
        try:
            answer = await self._api.get(f"{self._path}/{quote(remote_id, safe='')}")
        except RequestRejected as error:  # the job is paid for and may exist: keep polling
            raise TransientError(str(error), "server", code=error.code) from None
        status = self._parse_status(answer, remote_id)
        if status is None:
            raise TransientError("the answer is not a JSON object with a job", "garbled")
        return status

    async def check(self, path: str) -> Any:
        """Send a GET request that costs nothing.

        Raises:
            Gone: HTTP 404 or 410; the caller knows what that means.
            ModelError: the check failed; the message says what to do.
        """
        try:
            return await self._api.get(path)
        except Gone:
            raise
        except ModelError as error:
            raise explain_check_error(error, self._agent, self._base_url) from None

    async def check_key(self) -> str:
        """Check address and key by requesting a job that cannot exist.

        Raises:
            ModelError: the check failed; the message says what to do.
        """
        try:
            await self.check(f"{self._path}/{NO_SUCH_JOB}")
        except (Gone, RequestRejected):
            return (
                f"{self._agent}: {self._base_url} answers and accepts the key. Whether the model "
                "exists is only known once a report is bought."
            )
        return (
            f"{self._agent}: {self._base_url} answers, but knows a job that cannot exist. Check "
            "that `base_url` in configs/agents.yaml is the provider's."
        )

    async def close(self) -> None:
        await self._api.close()

    def _parse_status(self, answer: Any, remote_id: str | None) -> JobStatus | None:
        """Return the job's status; None if the answer holds none.

        remote_id: the job's id, if already known.
        """
        if not isinstance(answer, dict):
            return None
        state = string(answer.get("status")) or ""
        new_id = string(answer.get("id"))
        ended = state in self._end_states
        try:
            raw = json.dumps(answer, ensure_ascii=False) if ended else None
        except RecursionError:
            return None
        return JobStatus(
            remote_id=remote_id or (replace_surrogates(new_id) if new_id else None),
            remote_state=state,
            ended=ended,
            raw=None if raw is None else redact_key(raw, self._key),
        )
