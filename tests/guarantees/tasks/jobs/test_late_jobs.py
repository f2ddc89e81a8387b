"""Jobs that their provider cannot show yet: looked for again, and bought once."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from tasks.agents.agent import Gone, JobStatus
from tasks.agents.registry import open_agent
from tasks.jobs.resolve import InvalidJobState, ask_again
from tasks.jobs.run import NoReport
from tasks.warehouse.jobs import Job
from tasks.warehouse.rows import Report, utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tests.servers.http import Request, Response
from tests.servers.serving import serving
from tests.tasks.agents.conversations import KEY, PLACE
from tests.tasks.agents.job_clients import KINDS, Kind, ask_of
from tests.tasks.asked_agents import (
    QUICK,
    ScriptedAgent,
    asker_of,
    ended,
    missing,
    only,
    report,
    running,
    warehouse,
)
from tests.tasks.jobs.test_resolve import a_job

__all__ = ["warehouse"]
NOT_FOUND = Gone("HTTP 404: there is no such job")


class Clock:
    """The time of the runs; each look at a job takes a minute of it."""

    def __init__(self) -> None:
        self.now = utc_now()

    def __call__(self) -> datetime:
        return self.now

    async def not_found(self) -> JobStatus:
        self.now += timedelta(minutes=1)
        raise NOT_FOUND


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("tasks.jobs.run.utc_now", clock)
    return clock


def test_a_new_job_that_is_not_shown_yet_is_looked_for_again(
    warehouse: Warehouse, clock: Clock
) -> None:
    client = ScriptedAgent([running()], [clock.not_found, clock.not_found, ended()])
    report(warehouse, client)
    job = only(warehouse)
    assert (job.state, job.polls, job.error, len(client.asked)) == ("done", 3, None, 1)


def test_a_job_that_is_not_shown_for_a_quarter_of_an_hour_is_gone(
    warehouse: Warehouse, clock: Clock
) -> None:
    client = ScriptedAgent([running()], [clock.not_found])
    with pytest.raises(NoReport, match=r"no longer knows this job: HTTP 404.*--ask-again"):
        report(warehouse, client)
    assert client.n_looks == 16
    assert (only(warehouse).state, missing(warehouse)[0].next_step) == ("failed", "manual")
    [given_up] = ask_again(warehouse, [only(warehouse).job])
    assert given_up.state == "abandoned"


def test_an_old_job_that_its_provider_does_not_know_is_gone(
    warehouse: Warehouse, clock: Clock
) -> None:
    old = {"created_at": clock.now - timedelta(minutes=20), "remote_id": "r1"}
    kind = {"kind": "openai_responses"}
    warehouse.write(Change(Job, [a_job(0, "running", **old, **kind)]))
    with pytest.raises(NoReport, match="--ask-again"):
        report(warehouse, ScriptedAgent([], [NOT_FOUND]))
    assert (only(warehouse).state, only(warehouse).polls) == ("failed", 1)


def test_at_its_deadline_a_new_job_is_given_up_by_the_run_and_not_for_good(
    warehouse: Warehouse, clock: Clock
) -> None:
    hasty = QUICK.model_copy(update={"deadline_minutes": 2.5})
    client = ScriptedAgent([running()], [clock.not_found])
    with pytest.raises(NoReport, match=r"no longer knows .* the next run looks again") as told:
        report(warehouse, client, limits=hasty)
    assert (client.n_looks, "--ask-again" in str(told.value)) == (3, False)
    with pytest.raises(InvalidJobState, match="evergreen ask --agent scripted --edition 2026-11"):
        ask_again(warehouse, [only(warehouse).job])
    later = ScriptedAgent([], [ended()])
    report(warehouse, later, limits=hasty)
    assert (only(warehouse).state, later.asked) == ("done", [])
    assert len(warehouse.rows(Report, "true")) == 1


@pytest.mark.parametrize("look", [ended(), NOT_FOUND], ids=["there", "not there"])
def test_a_job_that_an_earlier_version_gave_up_at_its_first_look_is_looked_for(
    warehouse: Warehouse, clock: Clock, look: Any
) -> None:
    stored = a_job(
        0, "failed", kind="openai_responses", remote_id="r1", polls=1,
        error="the provider no longer knows this job: HTTP 404: not found",
        created_at=clock.now - timedelta(days=1),
        finished_at=clock.now - timedelta(days=1) + timedelta(seconds=2),
    )  # fmt: skip
    warehouse.write(Change(Job, [stored]))
    assert missing(warehouse)[0].next_step == "resume"
    with pytest.raises(InvalidJobState, match="looks again, which buys nothing"):
        ask_again(warehouse, [stored.job])
    client = ScriptedAgent([], [look])
    if look is NOT_FOUND:
        with pytest.raises(NoReport, match="--ask-again"):
            report(warehouse, client)
        assert missing(warehouse)[0].next_step == "manual"
        assert ask_again(warehouse, [stored.job])
    else:
        report(warehouse, client)
        assert only(warehouse).state == "done"
    assert (client.asked, client.n_looks) == ([], 1)


def test_a_job_that_ended_without_a_report_is_not_looked_for(warehouse: Warehouse) -> None:
    failed = ended(status="failed", error={"code": "server_error", "message": "overloaded"})
    with pytest.raises(NoReport, match="--ask-again"):
        report(warehouse, ScriptedAgent([running()], [failed]))
    assert missing(warehouse)[0].next_step == "manual"


NOT_YET = [(404, b'{"error": {"message": "no such job"}}'), (410, b"{}"), (202, b""), (204, b""),
           (409, b"{}"), (425, b"{}"), (200, b"")]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_whatever_an_interface_says_of_a_job_it_does_not_show_yet(
    warehouse: Warehouse, kind: Kind
) -> None:
    server, left = kind.server(), list(NOT_YET)

    def late(request: Request) -> Response:
        if request.method == "GET" and left:
            status, body = left.pop(0)
            return Response(status, body)
        answer: Response = server(request)
        return answer

    async def run(address: str) -> None:
        client = open_agent("scripted", ask_of(kind, address), KEY, PLACE)
        asked = asker_of(warehouse, client)
        asked.ask = asked.ask.model_copy(update={"kind": kind.name})
        async with asked.closing():
            await asked.get_report(missing(warehouse)[0])

    with serving(late) as address:
        asyncio.run(run(address))
    assert (only(warehouse).state, only(warehouse).polls, left) == ("done", 8, [])
    assert server.n_made == 1
