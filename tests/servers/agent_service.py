"""Somebody's own service, as the kind `http` asks it."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.servers.agent_base import AgentServer
from tests.servers.http import Request, Response, json_response


class ServiceServer(AgentServer):
    """Jobs that pass through `states`, one a look; the same key makes no second one.

    at_once: the POST answers with the report. given: goes over the last answer.
    """

    path = "/reports"
    lists_models = False

    def __init__(
        self,
        *args: Any,
        states: Sequence[str] = ("queued", "what is this", "done"),
        at_once: bool = False,
        given: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(*args, **more)
        self.states = list(states)
        self.at_once = at_once
        self.given = given or {}
        self.jobs: dict[str, int] = {}
        """Idempotency key to looks so far."""
        self.names: dict[str, str] = {}
        self.expired: set[str] = set()
        self.looks = 0

    def route(self, request: Request) -> Response:
        if request.method == "GET" and request.path.startswith("/reports/"):
            return self._look(unquote(urlsplit(request.target).path.removeprefix("/reports/")))
        return super().route(request)

    def answer(self, body: dict[str, Any]) -> Response:
        key = self.headers[-1]["idempotency-key"]
        if key in self.jobs:
            self.bought -= 1
        self.jobs.setdefault(key, 0)
        self.names[f"jöb/{key}?"] = key
        if self.at_once:
            return json_response(self._done(self.states[-1]))
        return json_response({"job_id": f"jöb/{key}?"}, 202)

    def _look(self, name: str) -> Response:
        self.looks += 1
        if name not in self.names or name in self.expired:
            return self.error(404, "no such job", "not_found")
        key = self.names[name]
        state = self.states[min(self.jobs[key], len(self.states) - 1)]
        self.jobs[key] += 1
        return json_response(self._done(state))

    def _done(self, state: str) -> dict[str, Any]:
        if state not in ("done", "failed"):
            return {"state": state}
        return {"state": state, "report": self.report("")} | self.given
