"""Leakage (use of a source that agents must not use) and contradictions, by agent."""

from collections.abc import Iterator, Sequence

import polars as pl

from tasks.warehouse.store import Readable

LEAKAGE = (
    "wiki_fact/leakage_rate",
    "wiki_fact/leakage_rate_by_article",
    "claim_discovery/claim_leakage",
    "rubric_bench/rubric_blocked",
)
"""Metrics that measure how much rests on a source that agents must not use."""
CONFLICT = ("wiki_fact/wiki_conflict", "wiki_fact/ref_conflict", "research_gym/kpc")
"""Metrics that measure how much is contradicted."""
FIGURES_SQL = """
SELECT l.protocol, l.metric, l.agent, l.value,
    sum(s.numerator ORDER BY s.assignment) FILTER (s.value IS NOT NULL) AS numerator,
    l.n_items, l.n_reports, l.n_open, l.provisional, l.reason,
    list_position($3, l.protocol || '/' || l.metric) AS place
FROM leaderboard AS l LEFT JOIN scores AS s USING (edition, protocol, metric, agent, judge)
WHERE l.edition = $1 AND l.judge = $2 AND list_contains($3, l.protocol || '/' || l.metric)
GROUP BY ALL ORDER BY place, l.agent
"""
FIGURES = {
    "protocol": pl.String, "metric": pl.String, "agent": pl.String, "value": pl.Float64,
    "numerator": pl.Float64, "n_items": pl.Int64, "n_reports": pl.Int64, "n_open": pl.Int64,
    "provisional": pl.Boolean, "reason": pl.String,
}  # fmt: skip
"""A row per metric and agent, as on the leaderboard: the value (a share 0-1), how many of
`n_items` it counts (`numerator`, pooled), the number of reports, and why the value is null."""


def load_figures(
    source: Readable, edition: str, judge: str, metrics: Sequence[str]
) -> pl.DataFrame:
    """Return a frame of FIGURES: the metrics of LEAKAGE or CONFLICT, in that order."""
    frame = source.frame(FIGURES_SQL, [edition, judge, list(metrics)])
    return frame.select(pl.col(name).cast(kind) for name, kind in FIGURES.items())


def explain_missing(figures: pl.DataFrame, what: str) -> Iterator[str]:
    """Yield why some figures have no value, one line per metric and reason.

    what: the quantity measured ("leakage").
    """
    if figures.is_empty():
        yield f"This edition was not judged by a protocol that measures {what}."
    counted = figures.filter(pl.col("value").is_null()).group_by("metric", "reason").len()
    for metric, reason, n in counted.sort("metric", "reason", nulls_last=True).iter_rows():
        agents = "one agent" if n == 1 else f"{n} agents"
        yield f"{metric}: no value for {agents}: {reason or 'nothing was judged'}."
