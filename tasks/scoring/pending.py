"""Detect scores that are out of date."""

from collections.abc import Sequence

from tasks.configuration.models import Missing
from tasks.judging.cells import CellPlan
from tasks.protocols.case import Protocol
from tasks.scoring.addresses import has_news_of_addresses
from tasks.warehouse.store import Readable, Warehouse

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
