"""Stage reports: request them from agents, one by one."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tasks.jobs.pending import PendingReport, find_jobs_under_way, find_pending_reports
from tasks.run import Plan, RunContext
from tasks.stage import OnProgress, Output, Stage, StageCounts, Worker
from tasks.warehouse.rows import Report

if TYPE_CHECKING:
    from tasks.jobs.run import JobRunner

COUNTS = """
SELECT count(*) FILTER (status <> 'empty') AS done,
    (SELECT count(DISTINCT (agent, assignment)) FROM jobs WHERE edition = $1
        AND state IN ('sending', 'running', 'overdue', 'answered', 'refused')) AS pending,
    (SELECT count(*) FROM import_issues WHERE edition = $1 AND severity = 'unreadable'
        AND scope <> '')
    + (SELECT count(*) FROM jobs WHERE edition = $1 AND state IN ('lost', 'failed')
        AND (agent, assignment) NOT IN (
            SELECT (agent, assignment) FROM reports WHERE edition = $1)) AS failed,
    count(*) FILTER (status = 'empty') AS final
FROM reports WHERE edition = $1
"""


def select_reports(plan: Plan) -> list[PendingReport]:
    """Return the selected agents' missing reports, of each agent those with a running job first."""
    of = plan.selection
    return [
        item
        for agent in of.agents
        for item in sorted(
            find_pending_reports(plan.store, of.edition, agent, of.assignments)[: of.first],
            key=lambda item: (item.next_step != "resume", item.assignment),
        )
    ]


class ReportGetter:
    """Gets reports with open job runners; one that is tried again goes on with its job's row."""

    def __init__(self, run: RunContext, runners: "Mapping[str, JobRunner]") -> None:
        self._store = run.store
        self._runners = runners
        self._begun: set[tuple[str, str]] = set()

    async def get(self, item: PendingReport, on_progress: OnProgress) -> str | None:
        """Get one report; return what its job cost.

        Raises:
            NoReport: it did not come; its row says why.
            StopStage: its agent can deliver no reports now.
        """
        key = item.agent, item.assignment
        if key in self._begun:
            found = find_pending_reports(self._store, item.edition, *key[:1], [item.assignment])
            if not found or found[0].next_step == "manual":
                return None
            [item] = found
        self._begun.add(key)
        return await self._runners[item.agent].get_report(item)


@asynccontextmanager
async def _open(
    run: RunContext,
    todo: Sequence[PendingReport],
    *,
    only_looks: bool = False,
) -> AsyncIterator[Worker[PendingReport]]:
    from tasks.jobs.sessions import open_job_runner  # slow: HTTP clients

    async with AsyncExitStack() as stack:
        runners = {
            agent: await stack.enter_async_context(
                open_job_runner(run, run.plan.selection.edition, agent, only_looks=only_looks)
            )
            for agent in sorted({item.agent for item in todo})
        }
        yield Worker(
            ReportGetter(run, runners).get,
            count_answers=lambda item: runners[item.agent].answers,
            concurrency={a: runner.ask.limits.concurrency for a, runner in runners.items()},
            group=lambda item: item.agent,
        )


def _count(plan: Plan) -> list[StageCounts]:
    edition = plan.selection.edition
    [record] = plan.store.frame(COUNTS, [edition]).to_dicts()
    return [StageCounts(edition=edition, stage="reports", **record)]


REPORTS = Stage(
    name="reports",
    task="get_report",
    item="report",
    inputs=("assignments",),
    outputs=(Output("report", Report, "status <> 'empty'"),),
    find_pending=select_reports,
    open=_open,
    title=lambda item: f"{item.agent} / {item.title}",
    key=lambda item: (item.agent, item.assignment),  # with `first` others are pending then
    retry_on=(),  # only its job's row says what may be sent again
    count=_count,
)
JOBS_UNDER_WAY = replace(
    REPORTS,
    find_pending=lambda plan: [
        item
        for item in find_jobs_under_way(plan.store, plan.selection.edition)
        if not plan.selection.agents or item.agent in plan.selection.agents
    ],
    open=partial(_open, only_looks=True),
)
"""Looks once at jobs under way, and keeps the reports that have come; buys nothing."""
