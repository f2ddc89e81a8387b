"""Find missing reports and the state of their jobs."""

from collections.abc import Sequence
from typing import Literal

import polars as pl

from tasks.base import Frozen
from tasks.editions.names import UnknownName
from tasks.errors import suggest_names
from tasks.warehouse.jobs import Job
from tasks.warehouse.rows import AssignmentKind
from tasks.warehouse.store import Readable

MISSING = """
SELECT a.assignment, a.kind, a.query, a.prompt, a.prompt_sha,
    coalesce(t.title, a.assignment) AS title,
    t.url AS banned
FROM assignments AS a
LEFT JOIN articles AS t ON t.edition = a.edition AND t.article = a.article
LEFT JOIN reports AS r
    ON r.edition = a.edition AND r.assignment = a.assignment AND r.agent = $2
WHERE a.edition = $1 AND a.prompt IS NOT NULL AND r.assignment IS NULL
ORDER BY a.assignment
"""
MANUAL_STATES = frozenset({"failed", "lost"})
"""Jobs that cost money and brought nothing: only a person may have them requested again."""

NextStep = Literal["ask", "resume", "manual"]


class PendingReport(Frozen):
    """One report that is missing."""

    edition: str
    agent: str
    assignment: str
    title: str
    kind: AssignmentKind
    query: str | None = None
    prompt: str
    prompt_sha: str
    banned: tuple[str, ...]
    attempt: int
    """The current attempt, or the next one."""
    jobs: tuple[Job, ...]
    """The attempt's jobs, by turn; empty if nothing has been requested."""

    @property
    def next_step(self) -> NextStep:
        """Whether to request the report, resume its job, or wait for a person's decision."""
        job = self.jobs[-1] if self.jobs else None
        if job is None or job.state == "refused":
            return "ask"
        # A `done` job whose report is gone is made into one again.
        return "manual" if job.state in MANUAL_STATES and not job.may_appear else "resume"


def find_pending_reports(
    source: Readable, edition: str, agent: str, assignments: Sequence[str] = ()
) -> list[PendingReport]:
    """Return the agent's missing reports; `assignments` limits them. Assignments without a prompt
    are left out."""
    jobs: dict[str, list[Job]] = {}
    stored = source.frame(
        "SELECT * FROM jobs WHERE edition = $1 AND agent = $2 ORDER BY assignment, attempt, turn",
        [edition, agent],
    )
    for record in stored.to_dicts():
        jobs.setdefault(record["assignment"], []).append(Job.model_validate(record))
    return [
        _build_pending_report(edition, agent, record, jobs.get(record["assignment"], []))
        for record in source.frame(MISSING, [edition, agent]).to_dicts()
        if not assignments or record["assignment"] in assignments
    ]


def find_jobs_under_way(source: Readable, edition: str) -> list[PendingReport]:
    """Return an edition's missing reports whose jobs only have to be looked at."""
    asked = source.frame("SELECT DISTINCT agent FROM jobs WHERE edition = $1", [edition])["agent"]
    every = [x for agent in sorted(asked) for x in find_pending_reports(source, edition, agent)]
    return [item for item in every if item.next_step == "resume"]


def find_prompted_editions(source: Readable) -> list[str]:
    """Return the editions that have prompts, by name."""
    prompted = "SELECT DISTINCT edition FROM assignments WHERE prompt IS NOT NULL ORDER BY edition"
    return list(source.frame(prompted)["edition"])


def check_askable(source: Readable, edition: str, assignments: Sequence[str] = ()) -> None:
    """Raise UnknownName unless these assignments of the edition (any, if empty) have prompts."""
    prompted = source.frame(
        "SELECT assignment FROM assignments WHERE edition = $1 AND prompt IS NOT NULL", [edition]
    )["assignment"]
    if prompted.is_empty():
        raise UnknownName(
            f"{edition} has no prompts for agents; make them with `evergreen assign "
            f"--edition {edition}`."
        )
    if unknown := sorted(set(assignments) - set(prompted)):
        raise UnknownName(
            f"{edition} has no assignment {unknown[0]!r} with a prompt. "
            f"{suggest_names(unknown[0], prompted)}"
        )


def load_jobs(
    source: Readable, edition: str | None, agents: Sequence[str], state: str | None
) -> pl.DataFrame:
    """Load jobs for display, the newest last. agents: only of these; of all if empty."""
    return source.frame(
        "SELECT job, edition, agent, assignment, attempt, turn, state, remote_word, polls, "
        "cost_usd, created_at, coalesce(finished_at, polled_at) AS seen_at, error FROM jobs "
        "WHERE ($1 IS NULL OR edition = $1) "
        "AND ($2 IS NULL OR list_contains($2::VARCHAR[], agent)) AND ($3 IS NULL OR state = $3) "
        "ORDER BY created_at, job",
        [edition, [*agents] or None, state],
    )


def load_job_fields(source: Readable, name: str) -> pl.DataFrame:
    """Load all fields of one job, one per row; the answer is shortened.

    Raises:
        UnknownName: there is no such job.
    """
    found = source.frame(
        "SELECT * REPLACE (left(answer, 1000) AS answer, left(prompt, 200) AS prompt), "
        "length(answer) AS answer_characters FROM jobs WHERE job = $1 OR ends_with(job, $1)",
        [name],
    ).to_dicts()
    if not found:
        raise UnknownName(f"There is no job {name!r}; `evergreen agents jobs` lists them.")
    rows = [
        (field, str(value)) for job in found for field, value in job.items() if value is not None
    ]
    return pl.DataFrame(rows, schema=["field", "value"], orient="row")


def _build_pending_report(
    edition: str, agent: str, record: dict[str, object], jobs: Sequence[Job]
) -> PendingReport:
    last = max((job.attempt for job in jobs), default=0)
    current = [job for job in jobs if job.attempt == last]
    given_up = any(job.state == "abandoned" for job in current)
    return PendingReport.model_validate(
        record
        | {
            "edition": edition,
            "agent": agent,
            "banned": tuple(filter(None, [record["banned"]])),
            "attempt": max(1, last + given_up),
            "jobs": () if given_up else tuple(current),
        }
    )
