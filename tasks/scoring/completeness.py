"""Who is ranked: agents with reports of enough assignments, unless configs/agents.yaml says not.

All others are listed apart, with the reason: their figures are shown, but they have no place or
rank range, are in no pair and so do not count in the correction for pairs.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from tasks.configuration.agents import load_agents
from tasks.configuration.leaderboard import load_leaderboard_settings
from tasks.protocols.case import Protocol
from tasks.warehouse.store import Readable

MISSING = "empty"
"""The state of the score of a missing report: the agent's own empty answer, or its refusal."""
ASSIGNABLE = """
SELECT a.assignment FROM assignments AS a
WHERE a.edition = $1 AND list_contains($2, a.kind)
    AND (NOT $4 OR a.assignment IN (
        SELECT b.assignment FROM rubric_bundles AS b WHERE b.edition = $1 AND b.protocol = $3))
    AND (NOT $5 OR a.article IN (SELECT t.article FROM articles AS t WHERE t.edition = $1))
ORDER BY a.assignment
"""


@dataclass(frozen=True)
class ReportCounts:
    """How many of a protocol's assignments an agent has reports of."""

    n_delivered: int
    """Reports with a text."""
    n_missing: int
    """Its own empty answers and final refusals."""
    n_assignments: int
    """Assignments of the edition that the protocol judges."""

    @property
    def n_undelivered(self) -> int:
        """Assignments without any answer of the agent: never asked, failed, or not imported."""
        return self.n_assignments - self.n_delivered - self.n_missing


def load_assignable(source: Readable, edition: str, protocol: Protocol) -> frozenset[str]:
    """Return the assignments of an edition that a protocol judges."""
    needs = ["rubric" in protocol.inputs, "article" in protocol.inputs]
    frame = source.frame(ASSIGNABLE, [edition, list(protocol.kinds), protocol.name, *needs])
    return frozenset(frame["assignment"])


def count_reports(scores: pl.DataFrame, assignable: frozenset[str]) -> dict[str, ReportCounts]:
    """Return each agent's counts.

    Args:
        scores: agent, assignment and state, a row per report, of one metric and judge.
        assignable: The protocol's assignments, also those without any report.
    """
    n_assignments = len(assignable.union(scores["assignment"]))
    is_missing = pl.col("state") == MISSING
    counted = scores.group_by("agent", maintain_order=True).agg(
        n_delivered=(~is_missing).sum(), n_missing=is_missing.sum()
    )
    return {
        agent: ReportCounts(n_delivered, n_missing, n_assignments)
        for agent, n_delivered, n_missing in counted.iter_rows()
    }


def find_unranked(counts: Mapping[str, ReportCounts]) -> dict[str, str]:
    """Return the agents to list apart, each with the reason: `unranked` in configs/agents.yaml,
    else too few reports (configs/leaderboard.yaml)."""
    agents = load_agents().agents
    found = {}
    for agent, count in counts.items():
        configured = agents[agent].unranked if agent in agents else None
        if reason := configured or _explain_incomplete(count):
            found[agent] = reason
    return found


def _explain_incomplete(count: ReportCounts) -> str | None:
    least = load_leaderboard_settings().completeness
    if not count.n_assignments or count.n_delivered / count.n_assignments >= least:
        return None
    return (
        f"it delivered {count.n_delivered:,} of {count.n_assignments:,} reports, fewer than "
        f"{least * 100:g} %"
    )
