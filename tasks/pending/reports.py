"""Which reports are missing, and how far each is: read from the warehouse, nothing stored."""

from collections.abc import Sequence
from typing import Literal

import polars as pl
from pydantic import BaseModel, ConfigDict

from tasks.editions.names import UnknownName
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
PROMPTED = """
SELECT DISTINCT a.edition FROM assignments AS a WHERE a.prompt IS NOT NULL ORDER BY a.edition
"""
LEFT_TO_A_PERSON = frozenset({"failed", "lost"})
"""What has cost money and brought nothing is not asked again until somebody says so."""
TAKEN_UP = frozenset({"sending", "running", "overdue", "answered", "done"})
"""What goes on where it was; `done` without a report is made into one again."""

Standing = Literal["ask", "go_on", "person"]


class Unreported(BaseModel):
    """One report that is missing."""

    model_config = ConfigDict(frozen=True)

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
    """The one that is under way, or the next."""
    jobs: tuple[Job, ...]
    """Of that attempt, by turn; empty where nothing has been asked."""

    @property
    def standing(self) -> Standing:
        """Whether it is to be asked, goes on where it was, or waits for a person to decide."""
        state = self.jobs[-1].state if self.jobs else "refused"
        if state in LEFT_TO_A_PERSON:
            return "person"
        return "go_on" if state in TAKEN_UP else "ask"


def unreported(
    source: Readable, edition: str, agent: str, assignments: Sequence[str] = ()
) -> list[Unreported]:
    """The assignments of an edition that the agent has no report for; `assignments` narrows it.
    An assignment without a prompt cannot be asked and is left out."""
    jobs: dict[str, list[Job]] = {}
    stored = source.frame(
        "SELECT * FROM jobs WHERE edition = $1 AND agent = $2 ORDER BY assignment, attempt, turn",
        [edition, agent],
    )
    for record in stored.to_dicts():
        jobs.setdefault(record["assignment"], []).append(Job.model_validate(record))
    return [
        _item(edition, agent, record, jobs.get(record["assignment"], []))
        for record in source.frame(MISSING, [edition, agent]).to_dicts()
        if not assignments or record["assignment"] in assignments
    ]


def prompted_editions(source: Readable) -> list[str]:
    """Editions with assignments that can be asked, by name."""
    return list(source.frame(PROMPTED)["edition"])


def has_reports(source: Readable, edition: str, agent: str) -> bool:
    """Whether the edition has any report of this agent."""
    found = source.frame(
        "SELECT 1 FROM reports WHERE edition = $1 AND agent = $2 LIMIT 1", [edition, agent]
    )
    return not found.is_empty()


def check_askable(source: Readable, edition: str, assignments: Sequence[str] = ()) -> None:
    """Raise UnknownName unless these assignments of the edition (any, where none is named) have a
    prompt."""
    prompted = source.frame(
        "SELECT assignment FROM assignments WHERE edition = $1 AND prompt IS NOT NULL", [edition]
    )["assignment"]
    if prompted.is_empty():
        raise UnknownName(
            f"{edition} has no prompts to ask agents with; make them with `evergreen assign "
            f"--edition {edition}`."
        )
    if unknown := sorted(set(assignments) - set(prompted)):
        raise UnknownName(
            f"{edition} has no assignment {unknown[0]!r} with a prompt; see `evergreen sql "
            f"\"SELECT assignment FROM assignments WHERE edition = '{edition}'\"`."
        )


def jobs_frame(
    source: Readable, edition: str | None, agent: str | None, state: str | None
) -> pl.DataFrame:
    """Jobs as people look at them, the newest last."""
    return source.frame(
        "SELECT job, edition, agent, assignment, attempt, turn, state, remote_word, polls, "
        "cost_usd, created_at, coalesce(finished_at, polled_at) AS seen_at, error FROM jobs "
        "WHERE ($1 IS NULL OR edition = $1) AND ($2 IS NULL OR agent = $2) "
        "AND ($3 IS NULL OR state = $3) "
        "ORDER BY created_at, job",
        [edition, agent, state],
    )


def job_frame(source: Readable, name: str) -> pl.DataFrame:
    """All fields of one job, a field a row; its answer's beginning.

    Raises:
        UnknownName: there is no such job.
    """
    found = source.frame(
        "SELECT * REPLACE (left(answer, 1000) AS answer, left(prompt, 200) AS prompt), "
        "length(answer) AS answer_characters FROM jobs WHERE job = $1 OR ends_with(job, $1)",
        [name],
    ).to_dicts()
    if not found:
        raise UnknownName(f"{name!r} is no job; `evergreen agents jobs` lists them.")
    rows = [(field, str(value)) for job in found for field, value in job.items()
            if value is not None]  # fmt: skip
    return pl.DataFrame(rows, schema=["field", "value"], orient="row")


def _item(edition: str, agent: str, record: dict[str, object], jobs: Sequence[Job]) -> Unreported:
    last = max((job.attempt for job in jobs), default=0)
    current = [job for job in jobs if job.attempt == last]
    given_up = any(job.state == "abandoned" for job in current)
    return Unreported.model_validate(
        record
        | {
            "edition": edition,
            "agent": agent,
            "banned": tuple(filter(None, [record["banned"]])),
            "attempt": max(1, last + given_up),
            "jobs": () if given_up else tuple(current),
        }
    )
