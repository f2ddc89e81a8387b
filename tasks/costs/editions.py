"""What the reports of an edition cost, and what judging them did: the view `cost_by_agent`, with
the judges that ask no model told from those whose calls were made elsewhere."""

from collections.abc import Mapping
from typing import Any, Literal

import polars as pl

from tasks.configuration.models import OfflineJudgeEntry, load_judges
from tasks.warehouse.store import Readable

Known = Literal["known", "free", "at least", "unknown"]
"""`known`: every report's cost is. `free`: it is, and it is 0. `at least`: some is missing from the
sum. `unknown`: there is no figure."""
NO_CALLS = "no calls"
"""What the view says of judging for which no model was asked here."""
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
"""A row per agent, US dollars. `n_priced` of its reports say what they cost; `jobs_usd` was paid
for all that was asked of it, also in vain, `people_usd` is what people entered. `reports_usd` is
their sum, `judging_usd` what the one judge has cost; each with a word of Known. Per report only
where all is known."""
JUDGING = {
    "judge": pl.String, "agent": pl.String, "n_judged": pl.Int64, "calls": pl.Int64,
    "calls_without_price": pl.Int64, "usd": pl.Float64, "usd_per_report": pl.Float64,
    "cost": pl.String,
}  # fmt: skip
"""A row per judge and agent, over all protocols: reports judged or begun with, calls made for them
and what they cost in US dollars, also those whose answer could not be used, with a word of
Known."""


def judging(source: Readable, edition: str) -> pl.DataFrame:
    """A frame of JUDGING."""
    entries = load_judges().judges
    offline = {name for name, entry in entries.items() if isinstance(entry, OfflineJudgeEntry)}
    rows = [
        row | _uncalled(free=row["judge"] in offline) if row["cost"] == NO_CALLS else row
        for row in source.frame(JUDGED, [edition]).iter_rows(named=True)
    ]
    return pl.DataFrame(rows, schema=JUDGING)


def costs(source: Readable, edition: str, judge: str, of_judging: pl.DataFrame) -> pl.DataFrame:
    """A frame of COST. of_judging: a frame of JUDGING."""
    by_this = {r["agent"]: r for r in of_judging.iter_rows(named=True) if r["judge"] == judge}
    rows = [
        row | _with_judging(row, by_this.get(row["agent"], {}))
        for row in source.frame(REPORTS, [edition]).iter_rows(named=True)
    ]
    return pl.DataFrame(rows, schema=COST)


def _uncalled(*, free: bool) -> dict[str, Any]:
    """What judging cost for which no model was asked: nothing, if the judge asks none. The calls
    behind verdicts that were brought in are not here."""
    return {"usd": 0.0, "usd_per_report": 0.0, "cost": "free"} if free else {"cost": "unknown"}


def _with_judging(row: Mapping[str, Any], judged: Mapping[str, Any]) -> dict[str, Any]:
    usd, known = judged.get("usd"), judged.get("cost", "unknown")
    total: float | None = None
    said: Known = "unknown"
    if row["reports_usd"] is not None and usd is not None:
        total = row["reports_usd"] + usd
        said = "free" if total == 0 else "known"
        if "at least" in (row["reports_cost"], known):
            said = "at least"
    return {"judging_usd": usd, "judging_cost": known, "total_usd": total, "total_cost": said}
