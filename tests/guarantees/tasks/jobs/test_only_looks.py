"""A run that only looks at jobs: it waits for none, and buys nothing whatever it finds."""

import asyncio
from typing import Any

import pytest

from tasks.jobs.run import NoReport
from tasks.models.errors import TransientError
from tasks.warehouse.jobs import Job
from tasks.warehouse.rows import Report
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tests.tasks.asked_agents import (
    ScriptedAgent,
    asker_of,
    ended,
    jobs,
    missing,
    running,
    warehouse,
)
from tests.tasks.jobs.test_resolve import a_job

__all__ = ["warehouse"]
QUESTION = "Could you clarify which tern you mean? Please confirm."
DOWN = TransientError("cannot connect", "connection")


def look(warehouse: Warehouse, client: Any, **more: Any) -> None:
    asker = asker_of(warehouse, client, **more)
    asker.only_looks = True
    asyncio.run(asker.get_report(missing(warehouse)[0]))


@pytest.mark.parametrize("state", ["running", "overdue"])
def test_a_report_that_is_ready_is_kept(warehouse: Warehouse, state: str) -> None:
    of = {"kind": "openai_responses", "remote_id": "r1"}
    warehouse.write(Change(Job, [a_job(0, state, **of)]))
    client = ScriptedAgent([], [running()])
    with pytest.raises(NoReport):
        look(warehouse, client)
    assert (client.n_looks, jobs(warehouse)[0].state) == (1, state)
    look(warehouse, ScriptedAgent([], [ended()]))
    assert (jobs(warehouse)[0].state, len(warehouse.rows(Report, "true"))) == ("done", 1)


@pytest.mark.parametrize(
    ("state", "looks"),
    [("refused", []), ("sending", []), ("running", [DOWN]), ("running", [ended(QUESTION)])],
    ids=["never bought", "sent", "down", "asks back"],
)  # fmt: skip
def test_nothing_is_bought_whatever_is_found(
    warehouse: Warehouse, state: str, looks: list[Any]
) -> None:
    of = {"kind": "openai_responses", "remote_id": "r1"}
    warehouse.write(Change(Job, [a_job(0, state, **of)]))
    client = ScriptedAgent([], looks)
    with pytest.raises(NoReport):
        look(warehouse, client, repeatable=True)
    assert (client.asked, warehouse.rows(Report, "true")) == ([], [])
    assert [job.state for job in jobs(warehouse)] in ([state], ["answered"])
