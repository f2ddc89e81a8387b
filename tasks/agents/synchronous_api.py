"""Interfaces that answer in one request: the same POST buys and delivers the report.

There is no job to poll: if the connection breaks before the answer is complete, the answer and
the money paid for it are lost.
"""

from typing import Any

from tasks.agents.agent import Gone, JobStatus
from tasks.agents.http import ApiClient
from tasks.configuration.agents import ApiAsk
from tasks.models.errors import TransientError


class SynchronousClient(ApiClient[ApiAsk]):
    """What the clients of such interfaces share; each has its own `start`."""

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
        return answer

    def ended_status(self, remote_state: str, answer: Any) -> JobStatus:
        """Return the status of an answered job: the whole answer, with the key redacted."""
        try:
            raw = self._render_answer(answer)
        except RecursionError:
            raise TransientError(
                "the answer is nested too deeply to be stored", "garbled", maybe_billed=True
            ) from None
        return JobStatus(remote_id=None, remote_state=remote_state, ended=True, raw=raw)
