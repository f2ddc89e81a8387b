"""The costs of reports and of judging them, as text."""

from dataclasses import dataclass
from typing import Any

from tasks.costs.editions import load_agent_costs, load_judging_costs
from tasks.publishing.material import SiteMaterial
from tasks.site.wording import format_dollars


@dataclass(frozen=True)
class AgentCosts:
    """The costs of one agent's reports and of judging them by one judge, for the edition."""

    usd_per_report: float | None
    """None if the cost of any report is unknown."""
    reports: str
    """Total cost of the reports."""
    judging: str
    """Total cost of judging, over all protocols."""
    judging_each: str
    """Cost of judging per judged report."""


def load_costs(material: SiteMaterial) -> dict[tuple[str, str], AgentCosts]:
    """Load the costs by (judge, agent)."""
    judging_costs = load_judging_costs(material.source, material.edition)
    each = {(row["judge"], row["agent"]): row for row in judging_costs.iter_rows(named=True)}
    return {
        (judge, row["agent"]): _make_costs(row, each.get((judge, row["agent"]), {}))
        for judge in material.judges
        for row in load_agent_costs(
            material.source, material.edition, judge, judging_costs
        ).iter_rows(named=True)
    }


def _make_costs(row: dict[str, Any], judged: dict[str, Any]) -> AgentCosts:
    known = row["judging_cost"]
    usd, n_judged = judged.get("usd"), judged.get("n_judged")
    return AgentCosts(
        usd_per_report=row["usd_per_report"],
        reports=_format_cost(row["reports_usd"], row["reports_cost"]),
        judging=_format_cost(row["judging_usd"], known),
        judging_each=_format_cost(usd / n_judged if usd is not None and n_judged else None, known),
    )


def _format_cost(usd: float | None, known: str) -> str:
    if known == "free":
        return "free"
    if usd is None:
        return "not known"
    return f"{'at least ' if known == 'at least' else ''}{format_dollars(usd)}"
