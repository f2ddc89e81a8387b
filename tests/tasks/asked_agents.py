"""An agent that does as a test says, and an edition to ask it about."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tasks.agents.agent import JobRequest, JobStatus
from tasks.agents.kind import AgentLimits, AgentPrice
from tasks.agents.kinds.openai_responses import OpenAiResponsesAsk
from tasks.jobs.pending import PendingReport, find_pending_reports
from tasks.jobs.run import JobRunner
from tasks.models.prices import Budget
from tasks.processes.pool import HelperProcesses
from tasks.run import Plan, RunContext, Selection
from tasks.warehouse.jobs import Job
from tasks.warehouse.rows import Article, Assignment, Edition, content_sha
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.tasks.made_rows import a_row

EDITION, AGENT = "2026-11", "scripted"
REPLY = "Decide yourself."
QUICK = AgentLimits(
    first_poll_seconds=0.001, longest_poll_seconds=0.002, first_wait_seconds=0.001, start_tries=3
)
PRICE = AgentPrice(typical_usd=2, most_usd=5, source="invented", checked=date(2026, 11, 21))
Event = JobStatus | Exception | Callable[[], Awaitable[JobStatus]]


def body(text: str = "# Tern\n\nA tern is a bird.", **more: Any) -> str:
    """A response that has ended, as the Responses API gives it."""
    message = {"type": "message", "content": [{"type": "output_text", "text": text}]}
    usage = {"input_tokens": 1000, "output_tokens": 500}
    return json.dumps({"id": "r1", "status": "completed", "model": "m-1", "output": [message],
                       "usage": usage} | more)  # fmt: skip


def ended(text: str = "# Tern\n\nA tern is a bird.", **more: Any) -> JobStatus:
    return JobStatus(remote_id="r1", remote_state="completed", ended=True, raw=body(text, **more))


def running(word: str = "in_progress") -> JobStatus:
    return JobStatus(remote_id="r1", remote_state=word, ended=False)


class ScriptedAgent:
    """Starts and looks give what the script says, one after the other; the last look repeats."""

    def __init__(self, starts: Sequence[Event], looks: Sequence[Event] = ()) -> None:
        self.starts, self.looks = list(starts), list(looks)
        self.asked: list[JobRequest] = []
        self.n_looks = 0

    async def start(self, question: JobRequest) -> JobStatus:
        self.asked.append(question)
        return await _given(self.starts.pop(0))

    async def poll(self, remote_id: str) -> JobStatus:
        self.n_looks += 1
        return await _given(self.looks.pop(0) if len(self.looks) > 1 else self.looks[0])

    async def check(self) -> str:
        return "fine"

    async def close(self) -> None:
        pass


async def _given(event: Event) -> JobStatus:
    if isinstance(event, Exception):
        raise event
    return event if isinstance(event, JobStatus) else await event()


def ask_entry(**more: Any) -> OpenAiResponsesAsk:
    return OpenAiResponsesAsk(
        **{"kind": "openai_responses", "model": "m", "limits": QUICK, "price": PRICE} | more
    )


def asker_of(
    warehouse: Warehouse, client: Any, budget: Budget | None = None, **more: Any
) -> JobRunner:
    entry = ask_entry(**more)
    plan = Plan(warehouse, Selection(edition=EDITION))
    run = RunContext(plan, budget or Budget(), HelperProcesses(1))
    return JobRunner(run=run, agent=AGENT, ask=entry, client=client, reply=REPLY)


def with_assignments(warehouse: Warehouse, n: int = 1, kind: Any = "write_article") -> None:
    """An edition of `n` articles, each with a prompt."""
    names = [f"Tern_{number}" for number in range(n)]
    warehouse.write(
        Change(Edition, [Edition(edition=EDITION, source="test")]),
        Change(Article, [
            a_row(Article, edition=EDITION, article=name, title=name.replace("_", " "),
                  url=f"https://en.wikipedia.org/wiki/{name}", text="A tern.")
            for name in names
        ]),
        Change(Assignment, [
            a_row(Assignment, edition=EDITION, assignment=name, article=name, kind=kind,
                  prompt=f"Write about {name}.", prompt_sha=content_sha(name))
            for name in names
        ]),
    )  # fmt: skip


def missing(warehouse: Warehouse) -> list[PendingReport]:
    return find_pending_reports(warehouse, EDITION, AGENT)


def jobs(warehouse: Warehouse) -> list[Job]:
    return sorted(warehouse.rows(Job, "true"), key=lambda job: (job.attempt, job.turn))


def path_of(tmp_path: Path) -> Path:
    return tmp_path / "warehouse.duckdb"


def report(warehouse: Warehouse, client: Any, **more: Any) -> None:
    """One run over the one missing report."""
    asyncio.run(asker_of(warehouse, client, **more).get_report(missing(warehouse)[0]))


def only(warehouse: Warehouse) -> Job:
    (job,) = jobs(warehouse)
    return job


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[Warehouse]:
    """An edition whose reports are missing."""
    with open_warehouse(path_of(tmp_path)) as opened:
        with_assignments(opened)
        yield opened
