"""Detect scores that are out of date.

So are scores of cited addresses of which more is known meanwhile. No verdict depends on what is
known of addresses: it is read only when reports are scored.
"""

from collections.abc import Sequence

import polars as pl

from tasks.configuration.models import Missing
from tasks.judging.cells import CellPlan
from tasks.protocols.case import Protocol
from tasks.warehouse.store import Readable, Warehouse

ADDRESSES = """
SELECT DISTINCT z.assignment, z.url, p.state
FROM citations AS z
JOIN extractions AS x USING (edition, agent, assignment)
JOIN page_states AS p ON p.edition = z.edition AND p.url = z.url
WHERE z.edition = $1 AND z.agent = $2 AND x.pairs_reliable
ORDER BY ALL
"""
ASKED = """
SELECT count(*) FROM absent_pages
WHERE edition = $1
    AND (state <> 'unknown' OR json_extract(evidence, '$.holdings') IS NOT NULL)
"""
"""The addresses about which an archive has answered; others only wait for it."""
COUNTED = """
WITH counted AS (
    SELECT assignment, coalesce(numerator, 0) AS never, n_items AS known FROM scores
    WHERE edition = $1 AND agent = $2 AND protocol = $3 AND judge = $4
        AND metric = 'never_existed' AND state = 'done'
)
"""
OUTDATED = f"""{COUNTED}, now AS (
    SELECT assignment,
        count(*) FILTER (state = 'never_existed') AS never,
        count(*) FILTER (state NOT IN ('open', 'missing')) AS known
    FROM ({ADDRESSES}) WHERE ({ASKED}) > 0 GROUP BY ALL
)
SELECT count(*) FROM counted AS c LEFT JOIN now AS n USING (assignment)
WHERE (c.never, c.known) <> (coalesce(n.never, 0), coalesce(n.known, 0))
"""


def load_addresses(source: Readable, edition: str, agent: str) -> pl.DataFrame | None:
    """Return the different addresses of an agent's reports with their states, without reports whose
    pairs are unreliable; None if no archive was asked about addresses that are gone."""
    if not source.frame(ASKED, [edition]).item():
        return None
    names = ("assignment", "url", "state")
    return source.frame(ADDRESSES, [edition, agent]).cast(dict.fromkeys(names, pl.String))


def has_news_of_addresses(
    source: Readable, edition: str, agent: str, protocol: str, judge: str
) -> bool:
    """Whether something else is known of an agent's addresses than its scores say."""
    named = [edition, agent, protocol, judge]
    if not source.frame(f"{COUNTED} SELECT count(*) FROM counted", named).item():
        return False  # most protocols count none, and the other query is slow
    return bool(source.frame(OUTDATED, named).item())


SCORER_VERSION = "5"
"""Raise it when a metric's formula changes: scores are then recomputed, verdicts are kept."""


def has_outdated_scores(warehouse: Warehouse, plans: Sequence[CellPlan]) -> bool:
    """Whether the stored scores of these plans (one agent, one protocol) are out of date."""
    first = plans[0]
    stored = warehouse.frame(
        "SELECT DISTINCT assignment, cell_id, state FROM scores WHERE edition = $1 AND "
        "protocol = $2 AND agent = $3 AND judge = $4 AND scorer_version = $5",
        [first.edition, first.protocol, first.agent, first.judge, scorer_version(first)],
    )
    current = {(p.assignment, scored_cell(p), p.state) for p in plans}
    return set(stored.iter_rows()) != current or has_news_of_addresses(
        warehouse, first.edition, first.agent, first.protocol, first.judge
    )


def count_scored(source: Readable, edition: str, judge: str) -> dict[str, int]:
    """Count the reports that a judge has scored, by protocol."""
    counts = source.frame(
        "SELECT protocol, count(DISTINCT (agent, assignment)) FROM scores "
        "WHERE edition = $1 AND judge = $2 GROUP BY ALL ORDER BY protocol",
        [edition, judge],
    )
    return dict(counts.iter_rows())


def scored_cell(plan: CellPlan) -> str | None:
    """Return the id of the cell that a plan's scores rest on; None unless it is done."""
    return plan.cell_id if plan.state == "done" else None


def scorer_version(plan: CellPlan) -> str:
    """Return the version of a plan's scores."""
    return _name_version(plan.protocol_version, plan.missing)


def current_version(protocol: Protocol) -> str:
    """Return the version of scores that a protocol computes now."""
    return _name_version(protocol.version, protocol.missing)


def _name_version(protocol_version: str, missing: Missing) -> str:
    """Return the version of scores: that of the formulas, that of the protocol, and what missing
    reports count unless that is 0."""
    excluded = "" if missing == "zero" else f"/{missing}"
    return f"{SCORER_VERSION}/{protocol_version}{excluded}"
