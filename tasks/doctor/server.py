"""Check that the Prefect server answers, runs progress, and schedules are served.

Uses the HTTP API directly: Prefect's client takes seconds to load.
"""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from tasks.doctor.finding import Found
from tasks.warehouse.errors import first_line
from tasks.warehouse.rows import utc_now

AUTH = "PREFECT_API_AUTH_STRING"
ANSWER_SECONDS = 10.0
MOST = 200
"""Limit of runs per request; there are never more open runs."""
LONG = {
    "RUNNING": timedelta(days=1),
    "PENDING": timedelta(minutes=10),
    "CANCELLING": timedelta(minutes=10),
}
"""How long a run may stay in each state before it is reported."""
ADVICE = {
    "RUNNING": "Open its page. If its process is gone (killed, machine restarted), the run never "
    "ends: cancel it there, or `prefect flow-run delete ID`. Its work is kept; start it again.",
    "PENDING": "Its process has not started: look at the worker's log (`evergreen serve`).",
    "CANCELLING": "Its process is gone: `prefect flow-run delete ID`.",
    "LATE": "No worker runs it: start `evergreen serve`, or wait until the earlier runs end.",
    "PAUSED": "It waits for a decision: open its page, press Resume, and answer yes or no.",
}
"""What to do about a reported run, by its state."""
REFUSED = {
    401: f"Set {AUTH} (user:password) as the server has it.",
    403: f"Set {AUTH} (user:password) as the server has it.",
    503: "Its database does not answer: start the database, then look at the server's log.",
}
NO_ANSWER = (
    "Start it, or correct PREFECT_API_URL; without that variable, runs start their own server."
)
UNSERVED = "Start `evergreen serve` (with Docker: docker compose up -d worker)."
NOT_PLANNED = (
    "The server's scheduler does not plan runs: look at its log, and check that its SQLAlchemy is "
    "the locked version (2.1 plans nothing, without an error)."
)


class PrefectServer:
    """A client of a Prefect server's API."""

    def __init__(
        self,
        api_url: str,
        auth: str | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """auth: user:password; what PREFECT_API_AUTH_STRING says if not given."""
        self.api_url = api_url.rstrip("/")
        auth = auth or os.environ.get(AUTH, "")
        user, _, password = auth.partition(":")
        self._http = httpx.Client(
            timeout=ANSWER_SECONDS,
            trust_env=False,
            auth=(user, password) if auth else None,
            transport=transport,
        )

    def ask(self, path: str, **filters: object) -> Any:
        """Return what is at a path, or what filters find there."""
        method = "POST" if filters else "GET"
        response = self._http.request(method, f"{self.api_url}{path}", json=filters or None)
        response.raise_for_status()
        return response.json()

    def has_block(self, name: str) -> bool | None:
        """Return whether there is a Secret block of this name; None if the server does not say."""
        path = f"/block_types/slug/secret/block_documents/name/{quote(name, safe='')}"
        try:
            code = self._http.get(f"{self.api_url}{path}").status_code
        except (httpx.HTTPError, httpx.InvalidURL):
            return None
        return {200: True, 404: False}.get(code)

    def page_url(self, kind: str, identity: str) -> str:
        """Return the URL of a run or a deployment in the UI."""
        ui = os.environ.get("PREFECT_UI_URL") or self.api_url.removesuffix("/api")
        return f"{ui.rstrip('/')}/{kind}/{identity}"


def check_prefect(server: PrefectServer | None, history: Path) -> Iterator[Found]:
    """Check the server, its runs and its schedules. history: what runs write without a server."""
    if server:
        yield from check_server(server)
    else:
        text = "none is configured and none runs; each run starts its own"
        yield Found("skipped", f"{text} (history: {history}).")


def check_server(server: PrefectServer) -> Iterator[Found]:
    try:
        server.ask("/ready")
        theirs, ours = server.ask("/admin/version"), version("prefect")
    except httpx.HTTPStatusError as error:
        code = error.response.status_code
        advice = REFUSED.get(code, "Look at the server's log.")
        yield Found("fail", f"{server.api_url} refuses requests (HTTP {code}).", advice)
        return
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        text = f"{server.api_url} does not answer ({first_line(error)})."
        yield Found("fail", text, NO_ANSWER)
        return
    text = f"{server.api_url} answers and reaches its database; Prefect {theirs}"
    if theirs == ours:
        yield Found("ok", f"{text}.")
    else:
        advice = "Run the same version on the server and on every worker."
        yield Found("warn", f"{text}, here {ours}.", advice)
    yield from _check_runs(server)
    yield from _check_deployments(server)


def _check_runs(server: PrefectServer) -> Iterator[Found]:
    reported = 0
    found = _find_open_runs(server)
    for run in found:
        kind = "LATE" if run["state_name"] == "Late" else run["state_type"]
        since = datetime.fromisoformat(run["state"]["timestamp"]).astimezone(UTC)
        if kind in LONG and utc_now() - since < LONG[kind]:
            continue
        reported += 1
        text = f"{run['name']} is {run['state_name']} since {since:%Y-%m-%d %H:%M} UTC: "
        yield Found(
            "warn", text + server.page_url("runs/flow-run", run["id"]), ADVICE[kind], "runs"
        )
    if not reported:
        n = sum(run["state_type"] == "RUNNING" for run in found)
        text = f"{n} running; none is stuck, late or waiting for a person."
        yield Found("ok", text, check="runs")


def _find_open_runs(server: PrefectServer) -> list[dict[str, Any]]:
    """Find the runs that have not ended, without subflows, and those that are late."""
    started = {
        "parent_task_run_id": {"is_null_": True},
        "state": {"type": {"any_": ["RUNNING", "PENDING", "CANCELLING", "PAUSED"]}},
    }
    late = {"state": {"name": {"any_": ["Late"]}}}
    path = "/flow_runs/filter"
    return [
        *server.ask(path, limit=MOST, sort="START_TIME_ASC", flow_runs=started),
        *server.ask(path, limit=MOST, flow_runs=late),
    ]


def _check_deployments(server: PrefectServer) -> Iterator[Found]:
    ours = {"tags": {"all_": ["evergreen"]}}
    served = server.ask("/deployments/filter", limit=MOST, deployments=ours)
    ready = [each for each in served if each["status"] == "READY"]
    if served and not ready:
        text = f"no worker serves the {len(served)} deployments: no run starts."
        yield Found("warn", text, UNSERVED, "worker")
    elif served:
        text = f"{len(ready)} of {len(served)} deployments are served."
        yield Found("ok", text, check="worker")
    for each in served:
        if any(schedule["active"] for schedule in each["schedules"]):
            yield _check_schedule(server, each)


def _check_schedule(server: PrefectServer, deployment: dict[str, Any]) -> Found:
    schedules = [each["schedule"] for each in deployment["schedules"] if each["active"]]
    crons = ", ".join(
        f"`{each.get('cron', 'at intervals')}` {each.get('timezone') or 'UTC'}"
        for each in schedules
    )
    name = f"{deployment['name']}: {crons}"
    if deployment["paused"]:
        page = server.page_url("deployments/deployment", deployment["id"])
        return Found("warn", f"{name} is paused.", f"Turn it on at {page}", "schedule")
    coming = {
        "deployment_id": {"any_": [deployment["id"]]},
        "state": {"type": {"any_": ["SCHEDULED"]}},
        "expected_start_time": {"after_": utc_now().isoformat()},
    }
    by = "EXPECTED_START_TIME_ASC"
    runs = server.ask("/flow_runs/filter", limit=1, sort=by, flow_runs=coming)
    if not runs:
        return Found("warn", f"{name}, but no run is planned.", NOT_PLANNED, "schedule")
    when = datetime.fromisoformat(runs[0]["expected_start_time"]).astimezone(UTC)
    return Found("ok", f"{name}; next {when:%Y-%m-%d %H:%M} UTC.", check="schedule")
