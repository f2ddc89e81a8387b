"""Costs of an edition's reports and of judging them, from the view `cost_by_agent`.

Tells judges that call no model from those whose calls were made elsewhere.
"""

from collections.abc import Mapping
from typing import Any, Literal

import polars as pl

from tasks.configuration.models import OfflineJudgeEntry, load_judges
from tasks.warehouse.store import Readable

CostStatus = Literal["known", "free", "at least", "unknown"]
"""`known`: every report's cost is known. `free`: it is known to be 0. `at least`: some is missing
from the sum. `unknown`: there is no figure."""
NO_CALLS = "no calls"
"""The view's value for judging without any calls here."""
REPORTS = """
SELECT DISTINCT agent, v.reports AS n_reports, v.priced_reports AS n_priced,
    coalesce(c.jobs, 0) AS jobs, c.usd AS jobs_usd,
    coalesce(c.jobs_without_cost, 0) AS jobs_without_cost, c.people_usd, c.people_minutes,
    v.report_usd AS reports_usd, v.report_cost AS reports_cost, v.usd_per_report
FROM cost_by_agent AS v LEFT JOIN report_costs AS c USING (edition, agent)
WHERE edition = $1
ORDER BY agent
"""
JUDGED = """
SELECT judge, agent, judged_reports AS n_judged, judging_calls AS calls,
    unpriced_calls AS calls_without_price, judging_usd AS usd,
    judging_usd_per_report AS usd_per_report, judging_cost AS cost
FROM cost_by_agent
WHERE edition = $1 AND judge IS NOT NULL
ORDER BY judge, agent
"""
COST = {
    "agent": pl.String, "n_reports": pl.Int64, "n_priced": pl.Int64, "jobs": pl.Int64,
    "jobs_without_cost": pl.Int64, "jobs_usd": pl.Float64, "people_usd": pl.Float64,
    "people_minutes": pl.Float64, "reports_usd": pl.Float64, "usd_per_report": pl.Float64,
    "reports_cost": pl.String, "judging_usd": pl.Float64, "judging_cost": pl.String,
    "total_usd": pl.Float64, "total_cost": pl.String,
}  # fmt: skip
"""A row per agent, in US dollars. `n_priced`: reports with a known cost; `jobs_usd`: cost of all
jobs, also failed ones; `people_usd`: what people entered; `reports_usd`: the sum of both;
`judging_usd`: what the one judge cost. Each has a CostStatus. `usd_per_report` is only set if all
costs are known."""
JUDGING = {
    "judge": pl.String, "agent": pl.String, "n_judged": pl.Int64, "calls": pl.Int64,
    "calls_without_price": pl.Int64, "usd": pl.Float64, "usd_per_report": pl.Float64,
    "cost": pl.String,
}  # fmt: skip
"""A row per judge and agent, over all protocols: reports judged at least in part, the calls for
them and their cost in US dollars, including calls with unusable answers, with a CostStatus."""


def load_judging_costs(source: Readable, edition: str) -> pl.DataFrame:
    """Load a frame of JUDGING."""
    entries, rows = load_judges().judges, source.frame(JUDGED, [edition]).to_dicts()
    for row in rows:
        if row["cost"] == NO_CALLS and isinstance(entries.get(row["judge"]), OfflineJudgeEntry):
            row |= {"usd": 0.0, "usd_per_report": 0.0, "cost": "free"}
        elif row["cost"] == NO_CALLS:  # its verdicts were imported
            row["cost"] = "unknown"
    return pl.DataFrame(rows, schema=JUDGING)


def load_agent_costs(
    source: Readable, edition: str, judge: str, judging_costs: pl.DataFrame
) -> pl.DataFrame:
    """Load a frame of COST. judging_costs: a frame of JUDGING."""
    by_agent = {r["agent"]: r for r in judging_costs.iter_rows(named=True) if r["judge"] == judge}
    rows = [
        row | _add_judging(row, by_agent.get(row["agent"], {}))
        for row in source.frame(REPORTS, [edition]).iter_rows(named=True)
    ]
    return pl.DataFrame(rows, schema=COST)


def _add_judging(row: Mapping[str, Any], judged: Mapping[str, Any]) -> dict[str, Any]:
    usd, known = judged.get("usd"), judged.get("cost", "unknown")
    total: float | None = None
    status: CostStatus = "unknown"
    if row["reports_usd"] is not None and usd is not None:
        total = row["reports_usd"] + usd
        status = "free" if total == 0 else "known"
        if "at least" in (row["reports_cost"], known):
            status = "at least"
    return {"judging_usd": usd, "judging_cost": known, "total_usd": total, "total_cost": status}
