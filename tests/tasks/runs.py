"""Runs as flows open them, without Prefect, for tests of what a stage does."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any

from tasks.judging.session import JudgeSession, judge_session
from tasks.planning.options import FlowOptions
from tasks.run import Plan, RunContext, Selection, open_run
from tasks.stage import Stage
from tasks.warehouse.store import Warehouse


def plan_of(source: Any, edition: str = "e", **selected: Any) -> Plan:
    """What is pending of an edition."""
    return Plan(source, Selection(edition=edition, **selected))


def run_of(
    warehouse: Warehouse, edition: str = "e", *, budget_usd: float | None = None, **selected: Any
) -> AbstractContextManager[RunContext]:
    """A run of an edition."""
    return open_run(plan_of(warehouse, edition, **selected), budget_usd)


@asynccontextmanager
async def open_judge(warehouse: Warehouse, judge: str) -> AsyncIterator[JudgeSession]:
    """An open judge, in a run of its own."""
    with run_of(warehouse) as run:
        async with judge_session(run, judge) as session:
            yield session


def do_pending(
    warehouse: Warehouse,
    stage: Stage[Any, Any],
    edition: str = "e",
    todo: Sequence[Any] | None = None,
    **selected: Any,
) -> list[Exception]:
    """Do what is pending of a stage, or `todo`, part by part; the errors of what was not done."""

    async def work() -> list[Exception]:
        errors = []
        with run_of(warehouse, edition, **selected) as run:
            pending = run.plan.find_pending(stage) if todo is None else todo
            async with stage.open(run, pending) as worker:
                for part in stage.split(pending):
                    try:
                        await worker.do(part, lambda n: None)
                    except Exception as error:
                        errors.append(error)
        return errors

    return asyncio.run(work())


def outcome_of(warehouse: Warehouse, options: FlowOptions) -> str | None:
    """What a run with these options ends with that finds nothing pending."""
    return options.find_outcome(options.plan(warehouse))
