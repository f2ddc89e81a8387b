"""Jobs over JSON and HTTP: one POST creates a job, each GET returns its status."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar
from urllib.parse import quote

from tasks.agents.agent import Gone, JobRequest, JobStatus
from tasks.agents.wire.answers import count, string
from tasks.agents.wire.http import CONFIGURED_IN, ApiClient, AskT
from tasks.models.errors import RequestRejected, TransientError
from tasks.warehouse.rows import replace_surrogates

NO_SUCH_JOB = "evergreen-check-there-is-no-such-job"
"""Requested by `check`: "not found" means that the key was accepted."""
MAX_JOB_ID_CHARS = 1_000


class PolledClient(ApiClient[AskT], ABC):
    """What the clients of such interfaces share."""

    path: ClassVar[str]
    """Where jobs are created; `path/ID` is one of them."""
    end_states: ClassVar[frozenset[str]]
    """The final states: jobs in any other state, known or not, are polled again."""
    state_field: ClassVar[str] = "status"
    id_field: ClassVar[str] = "id"

    @abstractmethod
    def build_request(self, request: JobRequest) -> dict[str, Any]:
        """Build the body that requests a report."""

    async def start(self, request: JobRequest) -> JobStatus:
        answer = await self._create_job(request)
        status = self._parse_status(answer, None)
        if status is None or status.remote_id is None:
            error = answer.get("error") if isinstance(answer, dict) else None
            raise self.find_refusal(error) or TransientError(
                "the answer names no job; one may have been created", "garbled", maybe_billed=True
            )
        return status

    async def poll(self, remote_id: str) -> JobStatus:
        try:
            answer = await self._get_job(remote_id)
        except RequestRejected as error:  # the job is paid for and may exist: keep polling
            raise TransientError(str(error), "server", code=error.code) from None
        status = self._parse_status(answer, remote_id)
        if status is None:
            raise TransientError("the answer is not a JSON object with a job", "garbled")
        return status

    async def check(self) -> str:
        """Check address and key by requesting a job that cannot exist."""
        try:
            with self.explain_errors():
                await self._get_job(NO_SUCH_JOB)
        except (Gone, RequestRejected):
            return (
                f"{self.base_url} answers and accepts the key. Whether the model "
                "exists is only known once a report is bought."
            )
        return (
            f"{self.base_url} answers, but knows a job that cannot exist. Check "
            f"that `base_url` in {CONFIGURED_IN} is the provider's."
        )

    async def _create_job(self, request: JobRequest) -> Any:
        return await self.buy(self.path, self.build_request(request))

    async def _get_job(self, remote_id: str) -> Any:
        return await self.get(f"{self.path}/{quote(remote_id, safe='')}")

    def _parse_status(self, answer: Any, remote_id: str | None) -> JobStatus | None:
        """Return the job's status; None if the answer holds none.

        remote_id: the job's id, if already known.
        """
        if not isinstance(answer, dict):
            return None
        state = string(answer.get(self.state_field)) or ""
        ended = state in self.end_states
        try:
            raw = self._render_answer(answer) if ended else None
        except RecursionError:
            return None
        return JobStatus(
            remote_id=remote_id or _parse_job_id(answer.get(self.id_field)),
            remote_state=state,
            ended=ended,
            raw=raw,
        )


def _parse_job_id(value: Any) -> str | None:
    """Return a job id as text, also where it is a number."""
    number = count(value)
    text = str(number) if number is not None else string(value)
    return replace_surrogates(text) if text and len(text) <= MAX_JOB_ID_CHARS else None
