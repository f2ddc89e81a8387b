"""What only a person can decide: ask again, point to a job at the provider, enter costs."""

from collections.abc import Sequence
from datetime import datetime

from tasks.editions.names import UnknownName
from tasks.errors import ExpectedError
from tasks.warehouse.jobs import CollectionCost, Job
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change

GIVEN_UP = frozenset({"lost", "failed", "overdue", "answered", "sending", "running"})
"""What may be asked again. `done` has a report; `refused` is asked again anyway."""


class NotPossible(ExpectedError):
    """What was asked of a job does not go with its state; the message says what does."""


def ask_again(warehouse: Warehouse, names: Sequence[str]) -> list[Job]:
    """Give jobs up, so that the next run buys their reports anew; the jobs as they are now.

    What they have brought and cost stays in their rows.

    Raises:
        UnknownName: there is no such job.
        NotPossible: it has brought its report, or nothing was bought.
    """
    jobs = [_job(warehouse, name) for name in names]
    for job in jobs:
        if job.state not in GIVEN_UP:
            raise NotPossible(f"job {job.job} is {job.state}: {_why_not(job)}")
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
    warehouse.write(Change(Job, changed))
    return changed


def point_to(warehouse: Warehouse, name: str, remote_id: str) -> Job:
    """Say under which name the provider has a job whose answer was lost: the next run looks.

    Raises:
        UnknownName: there is no such job.
        NotPossible: its answer is not lost.
    """
    job = _job(warehouse, name)
    if job.state != "lost":
        raise NotPossible(
            f"job {job.job} is {job.state}, not lost: only of a job whose answer was lost is the "
            "provider's id unknown."
        )
    found = job.model_copy(
        update={"state": "overdue", "remote_id": remote_id, "error": None}
        if _is_old(job.created_at)
        else {"state": "running", "remote_id": remote_id, "error": None}
    )
    warehouse.write(Change(Job, [found]))
    return found


def enter_cost(
    warehouse: Warehouse,
    edition: str,
    agent: str,
    assignments: Sequence[str],
    *,
    usd: float | None,
    minutes: float | None,
    note: str | None,
) -> int:
    """What it cost people to get reports, for each of `assignments`; all the agent has here where
    none is named. How many reports it was entered for; entered again it replaces.

    Raises:
        UnknownName: the agent has no such report.
    """
    known = warehouse.frame(
        "SELECT assignment FROM reports WHERE edition = $1 AND agent = $2 ORDER BY assignment",
        [edition, agent],
    )["assignment"].to_list()
    if unknown := [name for name in assignments if name not in known]:
        raise UnknownName(f"{edition} has no report of {agent} for {unknown[0]!r}.")
    if not known:
        raise UnknownName(f"{edition} has no reports of {agent!r}.")
    rows = [
        CollectionCost(edition=edition, agent=agent, assignment=name, usd=usd, minutes=minutes,
                       note=note)
        for name in (assignments or known)
    ]  # fmt: skip
    warehouse.write(Change(CollectionCost, rows))
    return len(rows)


def _job(warehouse: Warehouse, name: str) -> Job:
    """By its name, or the end of it that no other job has."""
    found = warehouse.rows(Job, "job = $1 OR ends_with(job, $1)", [name])
    if len(found) != 1:
        many = "is the end of several jobs' names" if found else "is no job"
        raise UnknownName(f"{name!r} {many}; `evergreen agents jobs` lists them.")
    return found[0]


def _why_not(job: Job) -> str:
    if job.state == "done":
        return "its report is there. To replace it, import another one."
    return "the next run asks for its report anyway."


def _is_old(created: datetime) -> bool:
    """A job of yesterday is looked at once a run, not waited for."""
    return (utc_now() - created).total_seconds() > 24 * 3600
