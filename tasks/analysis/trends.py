"""Figures over time: across editions, and by the age of the articles within an edition."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import polars as pl

from tasks.analysis.difficulty import ArticleScores
from tasks.analysis.protocols import Metric
from tasks.metrics.correlation import benjamini_hochberg, fit_line, rank_correlation
from tasks.metrics.ratios import mean
from tasks.warehouse.store import Readable

FIGURES = """
WITH dated AS (
    SELECT edition, max(created_at) AS newest_article FROM articles GROUP BY edition
), shared AS (
    SELECT edition, other, count(DISTINCT article) AS n FROM shared_articles GROUP BY ALL
), figures AS (
    SELECT l.*, d.newest_article, lag(l.edition) OVER past AS previous,
        l.value - lag(l.value) OVER past AS change
    FROM leaderboard AS l LEFT JOIN dated AS d USING (edition)
    WHERE l.judge = $2 AND l.value IS NOT NULL AND list_contains($3, l.protocol || '/' || l.metric)
        AND l.agent IN (SELECT agent FROM leaderboard WHERE edition = $1 AND judge = $2)
    WINDOW past AS (
        PARTITION BY l.protocol, l.metric, l.agent ORDER BY d.newest_article NULLS LAST, l.edition
    )
)
SELECT f.protocol, f.metric, f.agent, f.edition, f.newest_article, f.n_articles, f.value,
    CASE WHEN s.n IS NULL THEN f.change END AS change, coalesce(s.n, 0) AS n_shared,
    f.n_reports, f.n_items, f.provisional
FROM figures AS f LEFT JOIN shared AS s ON s.edition = f.edition AND s.other = f.previous
ORDER BY list_position($3, f.protocol || '/' || f.metric), f.agent,
    f.newest_article NULLS LAST, f.edition
"""
EDITION_END = """
SELECT coalesce(
    (SELECT max(created_until) FROM collections WHERE edition = $1),
    (SELECT max(created_at) FROM articles WHERE edition = $1)
)
"""
"""The end of an edition: of its collection window, else its newest article's creation."""
TREND = {
    "protocol": pl.String, "metric": pl.String, "agent": pl.String, "edition": pl.String,
    "newest_article": pl.Datetime, "n_articles": pl.Int64, "value": pl.Float64,
    "change": pl.Float64, "n_shared": pl.Int64, "n_reports": pl.Int64, "n_items": pl.Int64,
    "provisional": pl.Boolean,
}  # fmt: skip
"""A row per metric, agent and edition with a value, ordered by the newest article (UTC; editions
without dates last, by name). `n_articles`: the articles the value rests on; null in rows by an
earlier version. `change`: the difference to the previous edition; null in the first, and where the
two share articles (`n_shared`)."""
AGES = {
    "agent": pl.String, "article": pl.String, "created_at": pl.Datetime,
    "age_days": pl.Float64, "value": pl.Float64, "others": pl.Float64,
}  # fmt: skip
"""A row per agent and article: days from the article's creation to the edition's end, the agent's
value, and the mean of the other agents' values for that article (null if there are none)."""
CONTAMINATION = {
    "agent": pl.String, "of": pl.String, "n_articles": pl.Int64, "spearman": pl.Float64,
    "slope_per_30_days": pl.Float64, "low": pl.Float64, "high": pl.Float64, "p": pl.Float64,
    "p_adjusted": pl.Float64, "reason": pl.String,
}  # fmt: skip
"""Two rows per agent: for its value, and for its value minus that of the other agents. Spearman's
rho with the article's age, and the change of the value per 30 days of age, its 95 % interval and p
(of the slope; adjusted for the number of agents, Benjamini and Hochberg)."""
VALUE, LESS_OTHERS = "value", "value less the others'"
MONTH = 30
"""A month, in days."""
DAY = 86_400
"""A day, in seconds."""


def load_trend(
    source: Readable, edition: str, judge: str, metrics: Sequence[Metric]
) -> pl.DataFrame:
    """Return a frame of TREND: these metrics of the edition's agents over all editions."""
    frame = source.frame(FIGURES, [edition, judge, ["/".join(metric.key) for metric in metrics]])
    return frame.select(pl.col(name).cast(kind) for name, kind in TREND.items())


def load_ages(source: Readable, edition: str, of: ArticleScores) -> pl.DataFrame:
    """Return a frame of AGES: the articles with a known creation date."""
    end: datetime | None = source.frame(EDITION_END, [edition]).item()
    rows = [] if end is None else list(_compute_ages(of, end))
    return pl.DataFrame(rows, schema=AGES, orient="row")


def measure_contamination(points: pl.DataFrame) -> pl.DataFrame:
    """Compute a frame of CONTAMINATION from a frame of AGES."""
    relative = points.drop_nulls("others").with_columns(value=pl.col("value") - pl.col("others"))
    agents = points["agent"].unique().sort().to_list()
    rows: list[tuple[Any, ...]] = []
    for name, frame in ((VALUE, points), (LESS_OTHERS, relative)):
        pairs = {
            agent: frame.filter(pl.col("agent") == agent).select("age_days", "value").rows()
            for agent in agents
        }
        rows += _fit_age(name, pairs)
    return pl.DataFrame(rows, schema=CONTAMINATION, orient="row")


def _compute_ages(of: ArticleScores, end: datetime) -> Iterator[tuple[Any, ...]]:
    for agent in sorted(of.values):
        for article, value in sorted(of.values[agent].items()):
            created: datetime | None = of.articles[article]["created_at"]
            if created is None:
                continue
            others = [theirs for who, theirs in of.values_by_agent(article).items() if who != agent]
            days = (end - created).total_seconds() / DAY
            yield agent, article, created, days, value, mean(others)


def _fit_age(
    name: str, pairs: Mapping[str, Sequence[tuple[float, float]]]
) -> Iterator[tuple[Any, ...]]:
    lines = {agent: fit_line(of_agent) for agent, of_agent in pairs.items()}
    adjusted = benjamini_hochberg([one.p for one in lines.values()])
    for (agent, one), p in zip(lines.items(), adjusted, strict=True):
        ranks = rank_correlation(pairs[agent])
        slope, low, high = (
            None if figure is None else figure * MONTH for figure in (one.slope, one.low, one.high)
        )
        yield agent, name, one.n, ranks.spearman, slope, low, high, one.p, p, one.reason
