"""Asks one agent for its missing reports in a process of its own, to be killed at a chosen step.

Processes come from a fork server that has imported everything: hundreds of them in a minute.
"""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Mapping
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from tasks.jobs.run import NoReport
from tasks.jobs.sessions import open_job_runner
from tasks.pending.reports import find_pending_reports
from tasks.warehouse.jobs import Job
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change

EDITION = "sample"
PRELOADED = ["tests.rigs.asking_process", "tasks.agents.providers.gemini_research",
             "tasks.agents.providers.openai_responses", "tasks.agents.providers.perplexity",
             "tasks.agents.providers.perplexity_async"]  # fmt: skip


def asking_process(
    path: Path, agent: str, environment: Mapping[str, str], kill: tuple[str, int] | None = None
) -> ForkServerProcess:
    """A process that asks, started. kill: `("before", 3)` ends it with SIGKILL instead of the
    third commit of a job, `("after", 3)` right after it."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    process = context.Process(target=_run, args=(path, agent, dict(environment), kill))
    process.start()
    return process


def _run(
    path: Path, agent: str, environment: Mapping[str, str], kill: tuple[str, int] | None
) -> None:
    os.environ.update(environment)
    asyncio.run(ask(path, agent, kill))


async def ask(path: Path, agent: str, kill: tuple[str, int] | None) -> None:
    with open_warehouse(path) as warehouse:
        if kill:
            die_at(warehouse, *kill)
        async with open_job_runner(warehouse, EDITION, agent) as asker:
            for item in find_pending_reports(warehouse, EDITION, agent):
                if item.next_step == "manual":
                    print(f"left to a person: {item.assignment}")
                    continue
                try:
                    await asker.get_report(item)
                except NoReport as why:
                    print(why)


def die_at(warehouse: Warehouse, when: str, nth: int) -> None:
    """End this process hard at the `nth` commit of a job."""
    write = warehouse.write_async
    n = 0

    async def counted(*changes: Change) -> None:
        nonlocal n
        n += any(change.model is Job for change in changes)
        if n == nth and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        await write(*changes)
        if n == nth and when == "after":
            os.kill(os.getpid(), signal.SIGKILL)

    warehouse.write_async = counted  # type: ignore[method-assign]
