"""What reports cost and what judging them did, in the words of the pages."""

from dataclasses import dataclass
from typing import Any

from tasks.costs.editions import costs, judging
from tasks.publishing.material import Material
from tasks.site.wording import dollars


@dataclass(frozen=True)
class Price:
    """Of one agent's reports by one judge, over the whole edition."""

    usd_per_report: float | None
    """None where nobody says of all its reports."""
    reports: str
    """In all."""
    judging: str
    """In all, over all protocols."""
    judging_each: str
    """The same for each report that was judged."""


def prices(material: Material) -> dict[tuple[str, str], Price]:
    """By judge and agent."""
    of_judging = judging(material.source, material.edition)
    each = {(row["judge"], row["agent"]): row for row in of_judging.iter_rows(named=True)}
    return {
        (judge, row["agent"]): _price(row, each.get((judge, row["agent"]), {}))
        for judge in material.judges
        for row in costs(material.source, material.edition, judge, of_judging).iter_rows(named=True)
    }


def _price(row: dict[str, Any], judged: dict[str, Any]) -> Price:
    known = row["judging_cost"]
    usd, n_judged = judged.get("usd"), judged.get("n_judged")
    return Price(
        usd_per_report=row["usd_per_report"],
        reports=_said(row["reports_usd"], row["reports_cost"]),
        judging=_said(row["judging_usd"], known),
        judging_each=_said(usd / n_judged if usd is not None and n_judged else None, known),
    )


def _said(usd: float | None, known: str) -> str:
    if known == "free":
        return "free"
    if usd is None:
        return "not known"
    return f"{'at least ' if known == 'at least' else ''}{dollars(usd)}"
