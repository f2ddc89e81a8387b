"""What is under way, what waits for a person, and what is left to do."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.refresh import load_refresh
from tasks.doctor.finding import About, Finding
from tasks.judges.registry import judge
from tasks.models.errors import ModelError
from tasks.pending.reports import LEFT_TO_A_PERSON
from tasks.pending.status import edition_status
from tasks.planning.month import Wishes, check_month, has_pages, month_of, searches_archive
from tasks.site.mark import UnwritableSite
from tasks.warehouse.errors import first_line
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Readable

ABOUT = About("work")
NEWEST = 3
"""Editions that are looked through where none is named: planning each one's cells takes a while."""
MONTH = "the schedule's month"
LONG = timedelta(days=1)
JOBS = """
SELECT state, count(*) AS n, min(created_at) AS oldest
FROM jobs WHERE edition = $1 OR $1 IS NULL GROUP BY state ORDER BY state
"""
UNDER_WAY = ("sending", "running", "overdue", "answered")
BATCHES = """
SELECT judge, count(*) AS n, sum(n_requests)::BIGINT AS requests, min(created_at) AS oldest
FROM batch_jobs WHERE state IN ('creating', 'running') GROUP BY judge ORDER BY judge
"""
EDITIONS = "SELECT edition FROM editions ORDER BY imported_at DESC, edition DESC"


def check_jobs(source: Readable, edition: str | None) -> Iterator[Finding]:
    """Reports that were asked of agents."""
    rows = {row["state"]: row for row in source.frame(JOBS, [edition]).iter_rows(named=True)}
    left = [rows[state] for state in sorted(LEFT_TO_A_PERSON) if state in rows]
    for row in left:
        said = f"{row['n']:,} {row['state']}: not asked again until a person says so."
        decide = "--ask-again, or --remote-id ID" if row["state"] == "lost" else "--ask-again"
        advice = f"evergreen agents jobs --state {row['state']}; then name them with {decide}."
        yield ABOUT.warn("agents' jobs", said, advice)
    going = [rows[state] for state in UNDER_WAY if state in rows]
    if going:
        n, oldest = sum(row["n"] for row in going), min(row["oldest"] for row in going)
        said = f"{n:,} under way, the oldest since {oldest:%Y-%m-%d %H:%M} UTC."
        advice = "evergreen ask AGENT --edition E looks after them once more."
        yield ABOUT.told("warn" if _is_old(oldest) else "ok", "agents' jobs", said, advice)
    if not left and not going:
        yield ABOUT.ok("agents' jobs", "none is under way, lost or failed.")


def check_batches(source: Readable) -> Iterator[Finding]:
    """Batches that providers have."""
    for row in source.frame(BATCHES).iter_rows(named=True):
        said = f"{row['n']:,} of {row['judge']} with {row['requests']:,} calls are open, the "
        said += f"oldest since {row['oldest']:%Y-%m-%d %H:%M} UTC."
        advice = f"evergreen evaluate --edition E --judge {row['judge']} --batch fetches them."
        yield ABOUT.told("warn" if _is_old(row["oldest"]) else "ok", "batches", said, advice)


def check_month_to_come(source: Readable) -> Iterator[Finding]:
    """Whether the month that the schedule begins would get anywhere, as it is configured."""
    settings = load_refresh()
    if settings.schedule is None:
        return
    begins = settings.schedule.next_after(utc_now())
    month = month_of(source, settings, Wishes(), begins)
    try:
        check_month(source, month)
    except (ConfigurationError, ModelError, UnwritableSite) as error:
        said = f"it would not begin: {first_line(error)}"
        yield ABOUT.warn(MONTH, said, "evergreen refresh --dry-run tells all that is in its way.")
        return
    if all(map(searches_archive, month.agents)) and not has_pages(source, month.edition):
        said = f"{', '.join(month.agents)} would have no pages to write from: others cite them."
        yield ABOUT.warn(MONTH, said, "Name an agent that you have a key for in refresh.yaml.")
        return
    yield ABOUT.ok(
        MONTH,
        f"{month.edition} would begin on {begins:%Y-%m-%d %H:%M %Z} with "
        f"{', '.join(month.agents)}, judged by {month.judge}.",
    )


def check_editions(source: Readable, edition: str | None) -> Iterator[Finding]:
    """What is pending and what has failed by the default judge, of one edition or the newest."""
    known = source.frame(EDITIONS)["edition"].to_list()
    chosen = [edition] if edition else known[:NEWEST]
    for name in chosen:
        yield _edition(source, name)
    if left := [] if edition else known[NEWEST:]:
        said = f"{len(left)} older editions were not looked through; --edition names one."
        yield ABOUT.skipped("editions", said)


def _edition(source: Readable, edition: str) -> Finding:
    counts = edition_status(source, edition, judge(None))
    failed = ", ".join(f"{row.failed:,} {row.stage}" for row in counts if row.failed)
    pending = ", ".join(f"{row.pending:,} {row.stage}" for row in counts if row.pending)
    said = "; ".join(
        f"{what}: {which}" for what, which in (("failed", failed), ("pending", pending)) if which
    )
    return ABOUT.told(
        "warn" if failed else "ok",
        edition,
        f"{said or 'nothing is left to do'} (default judge).",
        f"evergreen status --edition {edition}; evergreen evaluate --edition {edition} tries "
        "again what can heal.",
    )


def _is_old(moment: datetime) -> bool:
    return utc_now() - moment.replace(tzinfo=UTC) > LONG
