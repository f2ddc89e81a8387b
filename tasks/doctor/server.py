"""Whether the Prefect server answers, runs get along, and schedules have somebody to start them.

Asked over its API as it stands, without Prefect's client, which takes seconds to load.
"""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

import httpx

from tasks.doctor.finding import About, Finding
from tasks.warehouse.errors import first_line
from tasks.warehouse.rows import utc_now

ABOUT = About("prefect")
AUTH = "PREFECT_API_AUTH_STRING"
ANSWER_SECONDS = 10.0
MOST = 200
"""Runs that are looked at; more are not open at once."""
LONG = {
    "RUNNING": timedelta(days=1),
    "PENDING": timedelta(minutes=10),
    "CANCELLING": timedelta(minutes=10),
}
"""By state, how long a run may be in it before somebody should look."""
WHY = {
    "RUNNING": "Look at its page. If its process is gone (killed, machine restarted) nothing will "
    "end it: cancel it there, or `prefect flow-run delete ID`. Its work is kept; start it again.",
    "PENDING": "Its process has not begun: look at the worker's log (`evergreen serve`).",
    "CANCELLING": "Its process is gone: `prefect flow-run delete ID`.",
    "LATE": "Nobody takes it: start `evergreen serve`, or wait until the runs before it end.",
    "PAUSED": "A person decides: open its page, press Resume, and say yes or no.",
}


REFUSED = {
    401: f"Set {AUTH} (user:password) as the server has it.",
    403: f"Set {AUTH} (user:password) as the server has it.",
    503: "Its database does not answer: start that, then look at the server's log.",
}
AWAY = (
    "Start it, or correct PREFECT_API_URL; without that variable runs start a server of their own."
)
UNSERVED = "Start `evergreen serve` (with Docker: docker compose up -d worker)."
UNPLANNED = (
    "The server's scheduler does not plan: look at its log, and whether its SQLAlchemy is the "
    "locked version (2.1 plans nothing, and says nothing)."
)


class Server:
    """What a Prefect server says over its API."""

    def __init__(self, api_url: str, transport: httpx.BaseTransport | None = None) -> None:
        self.api_url = api_url.rstrip("/")
        auth = os.environ.get(AUTH, "")
        user, _, password = auth.partition(":")
        self._http = httpx.Client(
            timeout=ANSWER_SECONDS,
            trust_env=False,
            auth=(user, password) if auth else None,
            transport=transport,
        )

    def get(self, path: str) -> Any:
        response = self._http.get(f"{self.api_url}{path}")
        response.raise_for_status()
        return response.json()

    def find(self, path: str, **question: object) -> list[dict[str, Any]]:
        response = self._http.post(f"{self.api_url}{path}", json=question)
        response.raise_for_status()
        found: list[dict[str, Any]] = response.json()
        return found

    def has_block(self, name: str) -> bool | None:
        """Whether there is a Secret block of this name; None where the server does not say."""
        path = f"/block_types/slug/secret/block_documents/name/{quote(name, safe='')}"
        try:
            code = self._http.get(f"{self.api_url}{path}").status_code
        except (httpx.HTTPError, httpx.InvalidURL):
            return None
        return {200: True, 404: False}.get(code)

    def page(self, kind: str, identity: str) -> str:
        """Where people look at a run or a deployment."""
        ui = os.environ.get("PREFECT_UI_URL") or self.api_url.removesuffix("/api")
        return f"{ui.rstrip('/')}/{kind}/{identity}"


def check_server(server: Server) -> Iterator[Finding]:
    """The server, its runs and its schedules."""
    try:
        server.get("/ready")
        theirs, ours = server.get("/admin/version"), version("prefect")
    except httpx.HTTPStatusError as error:
        code = error.response.status_code
        advice = REFUSED.get(code, "Look at the server's log.")
        yield ABOUT.fail("server", f"{server.api_url} refuses (HTTP {code}).", advice)
        return
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        said = f"{server.api_url} does not answer ({first_line(error)})."
        yield ABOUT.fail("server", said, AWAY)
        return
    said = f"{server.api_url} answers and reaches its database; Prefect {theirs}"
    if theirs == ours:
        yield ABOUT.ok("server", f"{said}.")
    else:
        advice = "Run the same version on the server and on every worker."
        yield ABOUT.warn("server", f"{said}, here {ours}.", advice)
    yield from _runs(server)
    yield from _deployments(server)


def without_server(history: str) -> Finding:
    """Where none is configured and none runs."""
    said = f"none is configured and none runs; a run starts one itself (history: {history})."
    return ABOUT.skipped("server", said)


def _runs(server: Server) -> Iterator[Finding]:
    told = 0
    found = _open_runs(server)
    for run in found:
        kind = "LATE" if run["state_name"] == "Late" else run["state_type"]
        since = _moment(run["state"]["timestamp"])
        if kind in LONG and utc_now() - since < LONG[kind]:
            continue
        told += 1
        said = f"{run['name']} is {run['state_name']} since {since:%Y-%m-%d %H:%M} UTC: "
        yield ABOUT.warn("runs", said + server.page("runs/flow-run", run["id"]), WHY[kind])
    if not told:
        n = sum(run["state_type"] == "RUNNING" for run in found)
        yield ABOUT.ok("runs", f"{n} at work; none is stuck, late or waits for a person.")


def _open_runs(server: Server) -> list[dict[str, Any]]:
    """Runs that have not ended, without subflows, and those that should have begun."""
    begun = {
        "parent_task_run_id": {"is_null_": True},
        "state": {"type": {"any_": ["RUNNING", "PENDING", "CANCELLING", "PAUSED"]}},
    }
    late = {"state": {"name": {"any_": ["Late"]}}}
    path = "/flow_runs/filter"
    return [
        *server.find(path, limit=MOST, sort="START_TIME_ASC", flow_runs=begun),
        *server.find(path, limit=MOST, flow_runs=late),
    ]


def _deployments(server: Server) -> Iterator[Finding]:
    ours = {"tags": {"all_": ["evergreen"]}}
    served = server.find("/deployments/filter", limit=MOST, deployments=ours)
    ready = [each for each in served if each["status"] == "READY"]
    if served and not ready:
        said = f"nobody serves the {len(served)} deployments: nothing scheduled or started begins."
        yield ABOUT.warn("worker", said, UNSERVED)
    elif served:
        yield ABOUT.ok("worker", f"{len(ready)} of {len(served)} deployments are served.")
    for each in served:
        if any(schedule["active"] for schedule in each["schedules"]):
            yield _schedule(server, each)


def _schedule(server: Server, deployment: dict[str, Any]) -> Finding:
    schedules = [each["schedule"] for each in deployment["schedules"] if each["active"]]
    crons = ", ".join(
        f"`{each.get('cron', 'at intervals')}` {each.get('timezone') or 'UTC'}"
        for each in schedules
    )
    name = f"{deployment['name']}: {crons}"
    if deployment["paused"]:
        page = server.page("deployments/deployment", deployment["id"])
        return ABOUT.warn("schedule", f"{name} is paused.", f"Switch it on at {page}")
    coming = {
        "deployment_id": {"any_": [deployment["id"]]},
        "state": {"type": {"any_": ["SCHEDULED"]}},
        "expected_start_time": {"after_": utc_now().isoformat()},
    }
    by = "EXPECTED_START_TIME_ASC"
    runs = server.find("/flow_runs/filter", limit=1, sort=by, flow_runs=coming)
    if not runs:
        return ABOUT.warn("schedule", f"{name}, but no run is planned.", UNPLANNED)
    when = _moment(runs[0]["expected_start_time"])
    return ABOUT.ok("schedule", f"{name}; next {when:%Y-%m-%d %H:%M} UTC.")


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC)
