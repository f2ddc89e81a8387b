"""What the reports of an edition cost, and what judging them did. What nobody knows is null: a
cost of 0 is said only of what is free."""

from collections.abc import Mapping
from typing import Any, Literal

import polars as pl

from tasks.configuration.models import OfflineJudgeEntry, load_judges
from tasks.warehouse.store import Readable

Known = Literal["known", "free", "at least", "unknown"]
"""`known`: every report's cost is. `free`: it is, and it is 0. `at least`: some is missing from the
sum. `unknown`: there is no figure."""
REPORTS = """
WITH agents AS (
    SELECT agent FROM reports WHERE edition = $1 UNION SELECT agent FROM report_costs
    WHERE edition = $1
), priced AS (
    SELECT agent, assignment FROM jobs
    WHERE edition = $1 AND state = 'done' AND cost_usd IS NOT NULL
    UNION SELECT agent, assignment FROM collection_costs WHERE edition = $1 AND usd IS NOT NULL
), counted AS (
    SELECT r.agent, count(*) AS n_reports, count(p.assignment) AS n_priced
    FROM reports AS r LEFT JOIN priced AS p USING (agent, assignment)
    WHERE r.edition = $1 GROUP BY r.agent
)
SELECT agent, coalesce(n.n_reports, 0) AS n_reports, coalesce(n.n_priced, 0) AS n_priced,
    coalesce(c.jobs, 0) AS jobs, c.usd AS jobs_usd,
    coalesce(c.jobs_without_cost, 0) AS jobs_without_cost, c.people_usd, c.people_minutes
FROM agents LEFT JOIN counted AS n USING (agent)
LEFT JOIN (FROM report_costs WHERE edition = $1) AS c USING (agent)
ORDER BY agent
"""
JUDGED = """
WITH judged AS (
    SELECT judge, agent, count(DISTINCT assignment) AS n_judged
    FROM scores WHERE edition = $1 AND cell_id IS NOT NULL GROUP BY ALL
), asked AS (
    SELECT judge, agent, sum(calls) AS calls, sum(cost_usd ORDER BY protocol) AS usd,
        sum(calls_without_price) AS calls_without_price
    FROM judging_costs WHERE edition = $1 GROUP BY ALL
)
SELECT judge, agent, coalesce(j.n_judged, 0) AS n_judged, coalesce(a.calls, 0)::BIGINT AS calls,
    a.usd, coalesce(a.calls_without_price, 0)::BIGINT AS calls_without_price
FROM judged AS j FULL JOIN asked AS a USING (judge, agent)
ORDER BY judge, agent
"""
COST = {
    "agent": pl.String, "n_reports": pl.Int64, "n_priced": pl.Int64, "jobs": pl.Int64,
    "jobs_without_cost": pl.Int64, "jobs_usd": pl.Float64, "people_usd": pl.Float64,
    "people_minutes": pl.Float64, "reports_usd": pl.Float64, "usd_per_report": pl.Float64,
    "reports_cost": pl.String, "judging_usd": pl.Float64, "judging_cost": pl.String,
    "total_usd": pl.Float64, "total_cost": pl.String,
}  # fmt: skip
"""A row per agent, US dollars. `n_priced` of its reports say what they cost; `jobs_usd` was paid
for all that was asked of it, also in vain, `people_usd` is what people entered. `reports_usd` is
their sum, `judging_usd` what the one judge has cost; each with a word of Known. Per report only
where all is known."""
JUDGING = {
    "judge": pl.String, "agent": pl.String, "n_judged": pl.Int64, "calls": pl.Int64,
    "calls_without_price": pl.Int64, "usd": pl.Float64, "usd_per_report": pl.Float64,
    "cost": pl.String,
}  # fmt: skip
"""A row per judge and agent, over all protocols: reports judged, calls made for them and what they
cost in US dollars, also those whose answer could not be used; with a word of Known."""


def judging(source: Readable, edition: str) -> pl.DataFrame:
    """A frame of JUDGING."""
    entries = load_judges().judges
    offline = {name for name, entry in entries.items() if isinstance(entry, OfflineJudgeEntry)}
    rows = []
    for row in source.frame(JUDGED, [edition]).iter_rows(named=True):
        usd, known = _judged(row, free=row["judge"] in offline)
        rows.append({**row, "usd": usd, "cost": known,
                     "usd_per_report": _each(usd, known, row["n_judged"])})  # fmt: skip
    return pl.DataFrame(rows, schema=JUDGING)


def costs(source: Readable, edition: str, judge: str, of_judging: pl.DataFrame) -> pl.DataFrame:
    """A frame of COST. of_judging: a frame of JUDGING."""
    by_this = {r["agent"]: r for r in of_judging.iter_rows(named=True) if r["judge"] == judge}
    rows = [
        _cost(row, by_this.get(row["agent"], {}))
        for row in source.frame(REPORTS, [edition]).iter_rows(named=True)
    ]
    return pl.DataFrame(rows, schema=COST)


def _cost(row: Mapping[str, Any], judged: Mapping[str, Any]) -> dict[str, Any]:
    usd, known = _spent(
        _sum(row["jobs_usd"], row["people_usd"]),
        whole=row["n_priced"] == row["n_reports"] and not row["jobs_without_cost"],
    )
    of_judge, judging_known = judged.get("usd"), judged.get("cost", "unknown")
    both: dict[str, Any] = {"total_usd": None, "total_cost": "unknown"}
    if usd is not None and of_judge is not None:
        both["total_usd"], both["total_cost"] = _spent(
            usd + of_judge, whole="at least" not in (known, judging_known)
        )
    return {
        **row,
        "reports_usd": usd,
        "reports_cost": known,
        "usd_per_report": _each(usd, known, row["n_reports"]),
        "judging_usd": of_judge,
        "judging_cost": judging_known,
        **both,
    }


def _judged(row: Mapping[str, Any], *, free: bool) -> tuple[float | None, Known]:
    if free and not row["calls"]:
        return 0.0, "free"
    return _spent(row["usd"], whole=not row["calls_without_price"])


def _spent(usd: float | None, *, whole: bool) -> tuple[float | None, Known]:
    """What is known of a sum. One of 0 from which something is missing says nothing."""
    if usd is None or (usd == 0 and not whole):
        return None, "unknown"
    if not whole:
        return usd, "at least"
    return usd, "known" if usd else "free"


def _sum(*figures: float | None) -> float | None:
    present = [figure for figure in figures if figure is not None]
    return sum(present) if present else None


def _each(usd: float | None, known: str, n: int) -> float | None:
    return usd / n if usd is not None and n and known in ("known", "free") else None
