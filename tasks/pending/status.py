"""Count what is done, pending and failed in each stage."""

from collections import Counter
from typing import ClassVar

from tasks.base import Frozen
from tasks.judges.decisions import Judge
from tasks.judges.questions.extract_key_points import ExtractKeyPoints
from tasks.judging.cells import plan_cells
from tasks.judging.protocols import choose_protocols
from tasks.pending.key_points import find_pending_key_points
from tasks.pending.pages import WANTED
from tasks.protocols.registry import available_protocols
from tasks.warehouse.store import Readable


class StageCounts(Frozen):
    """Counts of one stage's items in one edition."""

    order: ClassVar[tuple[str, ...]] = ("done", "pending", "failed", "final")

    edition: str
    stage: str
    done: int = 0
    pending: int = 0
    failed: int = 0
    final: int = 0
    """Items that can never be done: empty reports, scans without text, unfetchable pages, cells
    that are not assessed."""


COUNTS = f"""
SELECT 'articles' AS stage, count(*) AS done, 0 AS pending,
    (SELECT count(*) FROM import_issues WHERE edition = $1 AND severity = 'unreadable'
        AND scope = '') AS failed, 0 AS final
FROM articles WHERE edition = $1
UNION ALL
SELECT 'reports', count(*) FILTER (status <> 'empty'),
    (SELECT count(DISTINCT (agent, assignment)) FROM jobs WHERE edition = $1
        AND state IN ('sending', 'running', 'overdue', 'answered', 'refused')),
    (SELECT count(*) FROM import_issues WHERE edition = $1 AND severity = 'unreadable'
        AND scope <> '')
    + (SELECT count(*) FROM jobs WHERE edition = $1 AND state IN ('lost', 'failed')
        AND (agent, assignment) NOT IN (
            SELECT (agent, assignment) FROM reports WHERE edition = $1)),
    count(*) FILTER (status = 'empty')
FROM reports WHERE edition = $1
UNION ALL
SELECT 'facts', count(x.assignment), count(*) - count(x.assignment), 0, 0
FROM assignments AS a LEFT JOIN extractions AS x
    ON x.edition = a.edition AND x.assignment = a.assignment AND x.agent = ''
WHERE a.edition = $1 AND a.kind = 'write_article'
UNION ALL
SELECT 'claims', count(x.assignment),
    count(*) FILTER (x.assignment IS NULL AND r.status <> 'scanned'), 0,
    count(*) FILTER (x.assignment IS NULL AND r.status = 'scanned')
FROM reports AS r
JOIN assignments AS a
    ON a.edition = r.edition AND a.assignment = r.assignment AND a.kind <> 'find_claims'
LEFT JOIN extractions AS x
    ON x.edition = r.edition AND x.agent = r.agent AND x.assignment = r.assignment
    AND x.input_sha = r.text_sha
WHERE r.edition = $1 AND r.status <> 'empty'
UNION ALL
SELECT 'pages', count(*) FILTER (p.status = 'ok'), count(*) FILTER (p.status IS NULL), 0,
    count(*) FILTER (p.status <> 'ok')
FROM (SELECT DISTINCT url FROM {WANTED} WHERE edition = $1) AS c
LEFT JOIN pages AS p ON p.edition = $1 AND p.url = c.url
"""


def count_stages(source: Readable, edition: str, judge: Judge) -> list[StageCounts]:
    """Count items per stage, in pipeline order; verdicts and scores per protocol."""
    counts = [
        StageCounts(edition=edition, **record)
        for record in source.frame(COUNTS, [edition]).iter_rows(named=True)
    ]
    scored = count_scored(source, edition, judge)
    kinds = source.frame("SELECT DISTINCT kind FROM assignments WHERE edition = $1", [edition])
    protocols = available_protocols({*choose_protocols(source, edition), *scored})
    if any("key_points" in protocol.inputs for protocol in protocols.values()):
        counts.append(_count_key_points(source, edition, judge))
    for name, protocol in protocols.items():
        if not set(protocol.kinds) & {*kinds["kind"]}:
            continue  # it has nothing to judge here
        plans = plan_cells(source, edition, protocol, judge)
        states = Counter(plan.state for plan in plans)
        counts.append(
            StageCounts(
                edition=edition,
                stage=f"verdicts {name}",
                done=states["done"],
                pending=states["pending"],
                failed=states["failed"],
                final=states["empty"] + states["not_assessed"],
            )
        )
        n_scored = scored.get(name, 0)
        counts.append(
            StageCounts(
                edition=edition,
                stage=f"scores {name}",
                done=n_scored,
                pending=len(plans) - n_scored,
            )
        )
    rows = source.frame("SELECT count(*) FROM leaderboard WHERE edition = $1", [edition]).item()
    return [*counts, StageCounts(edition=edition, stage="leaderboard", done=rows)]


def count_scored(source: Readable, edition: str, judge: Judge) -> dict[str, int]:
    """Count the reports that a judge has scored, by protocol."""
    counts = source.frame(
        "SELECT protocol, count(DISTINCT (agent, assignment)) FROM scores "
        "WHERE edition = $1 AND judge = $2 GROUP BY ALL ORDER BY protocol",
        [edition, judge.name],
    )
    return dict(counts.iter_rows())


def _count_key_points(source: Readable, edition: str, judge: Judge) -> StageCounts:
    """Count assignments: with key points, never to have any, and pending ones (final if this judge
    cannot make them)."""
    done, unknown = source.frame(
        "SELECT count(*) FILTER (k.n_points > 0), "
        "count(*) FILTER (k.n_points = 0 OR (k.assignment IS NULL AND a.kind = 'research' "
        "AND a.assignment NOT IN ("
        "SELECT assignment FROM clicked_documents WHERE edition = $1)))"
        " FROM assignments AS a LEFT JOIN point_sets AS k USING (edition, assignment)"
        " WHERE a.edition = $1",
        [edition],
    ).row(0)
    waiting = len(find_pending_key_points(source, edition))
    able = ExtractKeyPoints in judge.decides
    return StageCounts(
        edition=edition,
        stage="key points",
        done=done,
        pending=waiting if able else 0,
        final=unknown + (0 if able else waiting),
    )
