"""Check what is in progress, what waits for a person, and what is pending."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from tasks.archive.pending import describe_second_look
from tasks.base import format_count
from tasks.configuration.errors import ConfigurationError
from tasks.doctor.finding import Found
from tasks.editions.names import list_newest_first
from tasks.editions.refresh import load_refresh
from tasks.editions.state import has_pages
from tasks.jobs.pending import MANUAL_STATES
from tasks.judges.registry import load_judge
from tasks.models.errors import ModelError
from tasks.planning.edition_options import RefreshOptions
from tasks.planning.month import check_month, find_unfinished, resolve_month, searches_archive
from tasks.planning.stages import count_stages
from tasks.site.mark import UnwritableSite
from tasks.warehouse.errors import first_line
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Readable

ASK = "evergreen ask --agent AGENT --edition E checks on them again."
NEWEST = 3
"""Editions to check if none is named: planning an edition's cells takes a while."""
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


def check_jobs(source: Readable, edition: str | None) -> Iterator[Found]:
    """Check the jobs that agents were given."""
    frame = source.frame(JOBS, [edition])
    rows = {row["state"]: row for row in frame.iter_rows(named=True)}
    left = [rows[state] for state in sorted(MANUAL_STATES) if state in rows]
    for row in left:
        text = f"{row['n']:,} {row['state']}: a person must decide whether to ask again."
        decide = "--ask-again, or --remote-id ID" if row["state"] == "lost" else "--ask-again"
        advice = f"evergreen agents jobs --state {row['state']}; then name them with {decide}."
        yield Found("warn", text, advice)
    going = [rows[state] for state in UNDER_WAY if state in rows]
    if going:
        n, oldest = sum(row["n"] for row in going), min(row["oldest"] for row in going)
        text = f"{n:,} in progress, the oldest since {oldest:%Y-%m-%d %H:%M} UTC."
        yield Found("warn" if _is_old(oldest) else "ok", text)
    if not left and not going:
        yield Found("ok", "none is in progress, lost or failed.")


def check_batches(source: Readable) -> Iterator[Found]:
    """Check the batches that providers are working on."""
    for row in source.frame(BATCHES).iter_rows(named=True):
        text = f"{row['n']:,} of {row['judge']}, with {format_count(row['requests'], 'call')}, "
        text += f"open; the oldest since {row['oldest']:%Y-%m-%d %H:%M} UTC."
        advice = f"evergreen evaluate --edition E --judge {row['judge']} --batch fetches them."
        yield Found("warn" if _is_old(row["oldest"]) else "ok", text, advice)


def check_next_month(source: Readable) -> Iterator[Found]:
    """Check that no month was left unfinished, and that the next could run as configured."""
    settings = load_refresh()
    for edition, said in find_unfinished(source, settings).items():
        yield Found("warn", said, check=f"the month {edition}")
    if settings.schedule is None:
        return
    begins = settings.schedule.next_after(utc_now())
    month = resolve_month(source, settings, RefreshOptions(), begins)
    try:
        check_month(source, month)
    except (ConfigurationError, ModelError, UnwritableSite) as error:
        text = f"it could not start: {first_line(error)}"
        yield Found("warn", text, "evergreen refresh --dry-run lists every obstacle.")
        return
    if all(map(searches_archive, month.agents)) and not has_pages(source, month.edition):
        text = f"{', '.join(month.agents)} would have no pages to write from: no agent cites any."
        yield Found("warn", text, "Name an agent that you have a key for in refresh.yaml.")
        return
    yield Found(
        "ok",
        f"{month.edition} will start on {begins:%Y-%m-%d %H:%M %Z} with "
        f"{', '.join(month.agents)}, judged by {month.judge}.",
    )


def check_editions(source: Readable, edition: str | None) -> Iterator[Found]:
    """Report what is pending and what failed by the default judge, of one edition or the newest."""
    known = list_newest_first(source)
    chosen = [edition] if edition else known[:NEWEST]
    for name in chosen:
        yield _check_edition(source, name)
    if left := [] if edition else known[NEWEST:]:
        text = f"{format_count(len(left), 'older edition')} not checked; --edition names one."
        yield Found("skipped", text)


def _check_edition(source: Readable, edition: str) -> Found:
    counts = count_stages(source, edition, load_judge(None).name)
    failed = ", ".join(f"{row.failed:,} {row.stage}" for row in counts if row.failed)
    pending = ", ".join(f"{row.pending:,} {row.stage}" for row in counts if row.pending)
    text = "; ".join(
        f"{what}: {which}" for what, which in (("failed", failed), ("pending", pending)) if which
    )
    later = describe_second_look(source, edition, command=f"evergreen fetch --edition {edition}")
    return Found(
        "warn" if failed else "ok",
        " ".join(filter(None, (f"{text or 'nothing is pending'} (default judge).", later))),
        f"evergreen status --edition {edition}; evergreen evaluate --edition {edition} retries "
        "temporary failures.",
        edition,
    )


def _is_old(moment: datetime) -> bool:
    return utc_now() - moment.replace(tzinfo=UTC) > LONG
