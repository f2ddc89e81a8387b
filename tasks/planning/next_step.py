"""What an edition has, and the next command for it. It plans no cell, so it answers at once, and
counts less exactly than `evergreen status`."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from shlex import join

import polars as pl

from tasks.agents.registry import load_agents
from tasks.base import Frozen
from tasks.configuration.models import load_judges
from tasks.configuration.web import load_web
from tasks.editions.names import list_newest_first
from tasks.judging.protocols import choose_protocols, need_pages
from tasks.scoring.boards import choose_ranking_metric, select_boards
from tasks.warehouse.operations import REPORTS_SHA
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Readable

UNDER_WAY = "('sending', 'running', 'overdue', 'answered', 'refused')"
"""States of jobs whose reports have not come yet, in SQL."""
PROGRESS = f"""
SELECT
    (SELECT count(*) FROM articles WHERE edition = $1) AS articles,
    (SELECT count(*) FROM assignments WHERE edition = $1) AS assignments,
    (SELECT count(prompt) FROM assignments WHERE edition = $1) AS prompts,
    (SELECT count(*) FROM reports WHERE edition = $1 AND status <> 'empty') AS reports,
    (SELECT count(DISTINCT agent) FROM reports WHERE edition = $1) AS agents,
    (SELECT count(DISTINCT (agent, assignment)) FROM jobs
        WHERE edition = $1 AND state IN {UNDER_WAY}) AS jobs,
    (SELECT count(DISTINCT (agent, assignment)) FROM jobs
        WHERE edition = $1 AND state IN ('lost', 'failed') AND (agent, assignment) NOT IN (
            SELECT (agent, assignment) FROM reports WHERE edition = $1)) AS failed,
    (SELECT coalesce(sum(pages), 0)::BIGINT FROM page_counts
        WHERE edition = $1 AND status = 'not fetched') AS pages,
    (SELECT count(*) FROM reports AS r JOIN assignments AS a USING (edition, assignment)
        WHERE edition = $1 AND r.status NOT IN ('empty', 'scanned') AND a.kind <> 'find_claims'
        AND (r.agent, assignment) NOT IN (
            SELECT (agent, assignment) FROM extractions WHERE edition = $1)) AS unextracted,
    (SELECT count(DISTINCT (protocol, agent, assignment)) FROM scores
        WHERE edition = $1 AND judge = $2 AND state = 'done') AS judged,
    (SELECT count(DISTINCT (protocol, agent, assignment)) FROM scores
        WHERE edition = $1 AND judge = $2 AND state IN ('pending', 'failed')) AS open,
    (SELECT count(*) FROM reports WHERE edition = $1 AND (agent, assignment) NOT IN (
        SELECT (agent, assignment) FROM scores WHERE edition = $1 AND judge = $2)) AS unjudged,
    (SELECT count(*) FROM leaderboard
        WHERE edition = $1 AND judge = $2 AND value IS NOT NULL) AS figures
"""
ASKED = f"""
SELECT DISTINCT agent FROM jobs WHERE edition = $1 AND state IN {UNDER_WAY} ORDER BY agent
"""
WORST = """
SELECT assignment FROM scores WHERE edition = $1 AND judge = $2 AND metric = $3 AND agent = $4
AND value IS NOT NULL ORDER BY value, assignment LIMIT 1
"""
PUBLISHED = """
SELECT EXISTS (FROM publications WHERE edition = $1)
    OR EXISTS (FROM refreshes WHERE outcome IN ('ok', 'incomplete'))
"""
FETCHED = f"""
SELECT EXISTS (
    FROM fetched_editions WHERE edition = $1 AND ended_at > $2
    AND reports_sha = (SELECT {REPORTS_SHA} FROM reports WHERE edition = $1))
"""
"""Whether pages were fetched after the last reports came and after a time ($2)."""
JUDGES = """
SELECT judge FROM scores WHERE edition = $1
GROUP BY judge ORDER BY count(*) FILTER (state = 'done') DESC, judge <> $2, judge LIMIT 1
"""
FIGURES = "SELECT * FROM leaderboard WHERE edition = $1 AND judge = $2 AND value IS NOT NULL"


class EditionProgress(Frozen):
    """Counts of what an edition has, by one judge."""

    articles: int
    assignments: int
    prompts: int
    """Assignments that agents can be asked."""
    reports: int
    agents: int
    jobs: int
    """Reports that agents are asked for and that have not come yet."""
    failed: int
    """Reports that never came; a person decides whether to ask again."""
    pages: int
    """Cited pages that were never fetched."""
    unextracted: int
    """Reports of which nobody knows yet what they claim and cite."""
    judged: int
    """Cells."""
    open: int
    """Cells that the judge was asked about and has not decided."""
    unjudged: int
    """Reports of which no cell was judged."""
    figures: int


class Leaders(Frozen):
    """Who leads an edition's first board; several if they cannot be told apart."""

    agents: tuple[str, ...]
    """By their figures, the best first."""
    metric: str
    heading: str
    value: float
    """The best figure, in the metric's unit."""
    unit: str


def count_progress(source: Readable, edition: str, judge: str) -> EditionProgress:
    """Count what an edition has."""
    return EditionProgress(**source.frame(PROGRESS, [edition, judge]).row(0, named=True))


def choose_judge(source: Readable, edition: str) -> str:
    """Return the judge that has judged most of an edition, rather the default one."""
    default = load_judges().default
    found = source.frame(JUDGES, [edition, default])["judge"].to_list()
    return str(found[0]) if found else default


def find_leaders(source: Readable, edition: str, judge: str) -> Leaders | None:
    """Find who leads the first of the edition's boards that has a figure by this judge."""
    rows = source.frame(FIGURES, [edition, judge])
    for board in select_boards(rows) if rows.height else ():
        by = choose_ranking_metric(rows, board)
        found = rows.filter(pl.col("metric") == by, pl.col("unranked").is_null())
        found = found.filter(pl.col("rank_from").fill_null(1) == 1).sort("value", descending=True)
        if found.height:
            return Leaders(
                agents=tuple(found["agent"]), metric=by, heading=board.columns[by],
                value=found["value"][0], unit="number" if by in board.numbers else "share",
            )  # fmt: skip
    return None


def find_next_step(source: Readable, edition: str, judge: str, found: EditionProgress) -> str:
    """Return the next command for an edition."""
    if not found.assignments:
        return _command(source, edition, "assign")
    if found.jobs and (asked := _list_asked(source, edition)):
        return _command(source, edition, "ask", *(w for name in asked for w in ("--agent", name)))
    if not found.reports and found.prompts:
        return _command(source, edition, "ask", "--agent", "AGENT")
    if not found.reports:
        return _command(source, edition, "import", "reports", "FOLDER", "--agent", "AGENT")
    if need_pages(choose_protocols(source, edition)) and (
        found.unextracted or (found.pages and _are_pages_due(source, edition))
    ):
        return _command(source, edition, "fetch")
    if found.unjudged or found.open:
        by = () if judge == load_judges().default else ("--judge", judge)
        return _command(source, edition, "evaluate", *by)
    if not found.figures:
        return _command(source, edition, "evaluate", "--judge", "JUDGE")
    published = was_published(source, edition)
    if outdated := published and find_outdated_site(source, edition):
        return command_to_publish(source, edition, *outdated)
    if not published:
        return command_to_publish(source, edition, "site")
    return _command_to_explain(source, edition, judge)


def _are_pages_due(source: Readable, edition: str) -> bool:
    """Whether pages are to be fetched now. After a fetch those that are still pending wait for a
    second look, and meanwhile the rest is judged."""
    from tasks.archive.pending import find_pending_pages, find_second_looks  # slow

    now = utc_now()
    is_due = any(at <= now for at in find_second_looks(source, edition).values())
    recent = (now - timedelta(hours=load_web().second_look_hours)).replace(tzinfo=None)
    if not is_due and source.frame(FETCHED, [edition, recent]).item():
        return False
    return bool(find_pending_pages(source, edition, "direct"))


def _list_asked(source: Readable, edition: str) -> list[str]:
    """Return the agents with jobs under way that can be asked still."""
    agents = load_agents().agents
    names = source.frame(ASKED, [edition])["agent"]
    return [name for name in names if name in agents and agents[name].ask]


def _command_to_explain(source: Readable, edition: str, judge: str) -> str:
    """Return the command that explains the report that a leader did least well."""
    if leaders := find_leaders(source, edition, judge):
        agent = leaders.agents[0]
        for (assignment,) in source.frame(WORST, [edition, judge, leaders.metric, agent]).rows():
            return _command(source, edition, "explain", f"{agent}/{assignment}")
    return _command(source, edition, "leaderboard")


def was_published(source: Readable, edition: str) -> bool:
    """Whether a site of the edition was ever written from this warehouse."""
    return bool(source.frame(PUBLISHED, [edition]).item())


def find_outdated_site(source: Readable, edition: str) -> tuple[str, tuple[str, ...]] | None:
    """Return folder and judges of a site of the edition that shows older figures than the warehouse
    has; None if there is none."""
    from tasks.publishing.downloads import find_sites, is_current  # slow: all that makes a site

    for site in find_sites(source, edition):
        if not is_current(source, edition, Path(site.folder), site.judges):
            return site.folder, site.judges
    return None


def command_to_publish(
    source: Readable, edition: str, folder: str, judges: Sequence[str] = ()
) -> str:
    """Return the command that writes a site. judges: all if empty."""
    named = (word for judge in judges for word in ("--judge", judge))
    return _command(source, edition, "publish", "--to", folder, *named)


def _command(source: Readable, edition: str, *words: str) -> str:
    """Return a command about an edition, which is only named if it is not the newest."""
    named = () if list_newest_first(source)[0] == edition else ("--edition", edition)
    return join(["evergreen", *words, *named])
