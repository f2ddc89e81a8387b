"""A client of your own service: POST the assignment, then GET the job until it has ended.

    POST url   {"job", "edition", "assignment", "title", "kind", "query", "prompt", "banned",
                "conversation": [{"role": "user"|"agent", "text"}]}
               and, with `sandbox: true`, "sandbox": {"url", "token"}: our search server;
               with `Idempotency-Key: <job>`: the same key must not start a second report
    answer     {"state": "done", "report": "…", …}      at once, see `report_form`,
               or {"job_id": "…"}                       the job to poll
    GET url/job_id     {"state": "done", "report": "…", …}, {"state": "failed", "error": "…"},
                       or any other state, which means "in progress"

Redirects are not followed, so that the key goes to the configured address only.
"""

from typing import Any, Literal

from tasks.agents.agent import Gone, JobAnswer, JobRequest, JobStatus
from tasks.agents.kind import AgentKind, Ask
from tasks.agents.wire.answers import parse_object
from tasks.agents.wire.http import CONFIGURED_IN
from tasks.agents.wire.polled_jobs import PolledClient
from tasks.agents.wire.report_form import assignment_payload, drop_nulls, parse_report_form
from tasks.configuration.secrets import KeySettings, read_address
from tasks.credentials import PlainAddress
from tasks.models.errors import Misconfigured, RequestRejected, TransientError


class HttpAsk(Ask, KeySettings):
    kind: Literal["http"]
    """Your own service: POST the assignment, then poll the job; a key is sent as `Authorization:
    Bearer …`."""
    url: PlainAddress
    url_env: str | None = None
    """The environment variable that, if set, replaces `url`."""
    sandbox: bool = False
    """Whether each job gets the address of our search server (EVERGREEN_SANDBOX) and a token."""

    def find_base_url(self) -> str:
        """Return the URL: from `url_env`, or `url`."""
        return (read_address(self.url_env) or self.url).rstrip("/")


class HttpJobClient(PolledClient[HttpAsk]):
    """A client of one service."""

    address_key = "url"
    path = ""
    end_states = frozenset({"done", "failed"})
    state_field = "state"
    id_field = "job_id"

    async def start(self, request: JobRequest) -> JobStatus:
        answer = await self.buy("", self.build_request(request), {"Idempotency-Key": request.job})
        status = self._parse_status(answer, None)
        if status is None or (not status.ended and status.remote_id is None):
            raise TransientError(
                f"{self.base_url} answered with neither a `job_id` nor a final `state`; a report "
                "may have been started",
                "garbled",
                maybe_billed=True,
            )
        return status

    async def check(self) -> str:
        """GET the address; any answer passes except a refused key or a server error. A service may
        know POST alone (405, 501)."""
        with self.explain_errors():
            try:
                await self.get("")
            except (Gone, RequestRejected):
                pass
            except TransientError as error:
                answered = error.kind == "garbled" or error.code == 501
                if not answered and error.code is not None:
                    raise Misconfigured(
                        f"{self.agent}: {self.base_url} answers with an error ({error}). Check the "
                        f"service, or `url` in {CONFIGURED_IN}."
                    ) from None
                if not answered:
                    raise
        return (
            f"{self.base_url} answers and did not refuse the key. Whether it writes reports is "
            "only known once one is requested."
        )

    def build_request(self, request: JobRequest) -> dict[str, Any]:
        access = {"sandbox": request.sandbox.model_dump()} if request.sandbox else {}
        return assignment_payload(request) | access


def read(raw: str) -> JobAnswer:
    """Read the answer of an ended job.

    Raises:
        UnreadableJobAnswer: it does not match the form; the message names the fields.
    """
    body = drop_nulls(parse_object(raw, "an ended job of a service"))
    if body.get("state") == "failed":
        body.setdefault("error", "the service reports `failed` without a reason")
    return parse_report_form(body)


KIND = AgentKind(HttpAsk, HttpJobClient, read, starts_once=True)
