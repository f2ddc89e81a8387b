"""Decisions that only people can take: request again, set a job's remote id, record costs."""

from collections.abc import Sequence
from datetime import timedelta

from tasks.editions.names import UnknownName, check_reports
from tasks.errors import ExpectedError, suggest_names
from tasks.jobs.rows import name_source
from tasks.warehouse.jobs import CollectionCost, Job
from tasks.warehouse.rows import Report, utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change

ABANDONABLE_STATES = frozenset({"lost", "failed", "overdue", "answered", "sending", "running"})
"""States of jobs that may be requested again. `done` jobs have a report; the next run sends
`refused` ones again anyway."""


class InvalidJobState(ExpectedError):
    """The job's state does not allow this; the message says what is possible."""


def ask_again(warehouse: Warehouse, names: Sequence[str]) -> list[Job]:
    """Abandon jobs, so that the next run requests their reports again; return the changed jobs.
    A missing report (the agent ended without a text, or refused) is open again.

    Their answers and costs stay in their rows.

    Raises:
        UnknownName: there is no such job.
        InvalidJobState: it has its report, may be there by now, or nothing was bought.
    """
    jobs = [_find_job(warehouse, name) for name in names]
    for job in jobs:
        if job.state not in ABANDONABLE_STATES or job.may_appear:
            raise InvalidJobState(f"job {job.job} is {job.state}: {_explain_refusal(job)}")
    turns = [
        turn
        for job in jobs
        for turn in warehouse.rows(
            Job,
            "edition = $1 AND agent = $2 AND assignment = $3 AND attempt = $4",
            [job.edition, job.agent, job.assignment, job.attempt],
        )
    ]
    now = utc_now()
    changed = [
        turn.model_copy(update={"state": "abandoned", "finished_at": turn.finished_at or now})
        for turn in turns
        if turn.state != "done"
    ]
    warehouse.write(Change(Job, changed), *_remove_empty_reports(warehouse, turns))
    return changed


def _remove_empty_reports(warehouse: Warehouse, jobs: Sequence[Job]) -> list[Change]:
    """Remove the missing reports of these jobs: their agents are asked again."""
    return [
        Change(Report, [], replacing=report.model_dump(include=set(Report.key)))
        for job in jobs
        for report in warehouse.rows(
            Report,
            "edition = $1 AND agent = $2 AND assignment = $3 AND status = 'empty' "
            "AND source_path = $4",
            [job.edition, job.agent, job.assignment, name_source(job)],
        )
    ]


def set_remote_id(warehouse: Warehouse, name: str, remote_id: str) -> Job:
    """Set the provider's id of a lost job, so that the next run looks for its answer there.

    Raises:
        UnknownName: there is no such job.
        InvalidJobState: its answer is not lost.
    """
    job = _find_job(warehouse, name)
    if job.state != "lost":
        raise InvalidJobState(
            f"job {job.job} is {job.state}, not lost: the provider's id is only unknown for "
            "lost jobs."
        )
    # A run checks a job that is over a day old once, and does not wait for it.
    old = utc_now() - job.created_at > timedelta(days=1)
    state = "overdue" if old else "running"
    found = job.model_copy(update={"state": state, "remote_id": remote_id, "error": None})
    warehouse.write(Change(Job, [found]))
    return found


def record_cost(
    warehouse: Warehouse,
    edition: str,
    agent: str,
    assignments: Sequence[str],
    *,
    usd: float | None,
    minutes: float | None,
    note: str | None,
) -> int:
    """Record what it cost people to get the reports of `assignments` (all of the agent's if empty),
    replacing earlier entries; return for how many.

    Raises:
        UnknownName: the agent has no such report, or none.
    """
    check_reports(warehouse, edition, [agent])
    known = warehouse.frame(
        "SELECT assignment FROM reports WHERE edition = $1 AND agent = $2 ORDER BY assignment",
        [edition, agent],
    )["assignment"].to_list()
    if unknown := [name for name in assignments if name not in known]:
        raise UnknownName(
            f"{edition} has no report of {agent} for {unknown[0]!r}. "
            f"{suggest_names(unknown[0], known)}"
        )
    rows = [
        CollectionCost(
            edition=edition, agent=agent, assignment=name, usd=usd, minutes=minutes, note=note
        )
        for name in (assignments or known)
    ]
    warehouse.write(Change(CollectionCost, rows))
    return len(rows)


def _find_job(warehouse: Warehouse, name: str) -> Job:
    """Find a job by its name or a unique ending of it."""
    found = warehouse.rows(Job, "job = $1 OR ends_with(job, $1)", [name])
    if len(found) != 1:
        problem = f"{name!r} matches several jobs" if found else f"There is no job {name!r}"
        raise UnknownName(f"{problem}; `evergreen agents jobs` lists them.")
    return found[0]


def _explain_refusal(job: Job) -> str:
    if job.state == "done":
        return "it has its report. To replace that, import another one."
    if job.may_appear:
        look = f"evergreen ask --agent {job.agent} --edition {job.edition}"
        return f"its provider was asked for it too soon. `{look}` looks again, which buys nothing."
    return "the next run requests its report anyway."
