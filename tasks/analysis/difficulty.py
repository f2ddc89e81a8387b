"""The difficulty of an edition's categories, its correlates, and whether agents do better in some
categories. Source: the analyses of Wiki Live Challenge.

The unit is an article: an agent's value for it is the mean over its assignments, mostly one.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import polars as pl

from tasks.analysis.protocols import Metric
from tasks.metrics.correlation import OneWayAnova, benjamini_hochberg, one_way_anova, pearson
from tasks.metrics.ratios import mean
from tasks.warehouse.store import Readable

VALUES = """
SELECT s.agent, a.article, s.value
FROM scores AS s JOIN assignments AS a USING (edition, assignment)
JOIN articles AS t USING (edition, article)
WHERE s.edition = $1 AND s.judge = $2 AND s.protocol = $3 AND s.metric = $4
    AND s.value IS NOT NULL
ORDER BY ALL
"""
ARTICLES = """
WITH stated AS (
    SELECT article, count(*) AS n FROM facts WHERE edition = $1 GROUP BY article
), looked_at AS (
    SELECT DISTINCT a.article
    FROM extractions AS x JOIN assignments AS a USING (edition, assignment)
    WHERE x.edition = $1 AND x.agent = ''
)
SELECT t.article, nullif(t.category, 'unknown') AS category, t.created_at, t.views::DOUBLE AS views,
    t.external_links::DOUBLE AS links, t.bytes::DOUBLE AS bytes,
    coalesce(s.n, CASE WHEN l.article IS NOT NULL THEN 0 END)::DOUBLE AS statements
FROM articles AS t LEFT JOIN stated AS s USING (article) LEFT JOIN looked_at AS l USING (article)
WHERE t.edition = $1
ORDER BY t.article
"""
"""`statements` is null, not 0, for an article whose facts have not been extracted."""
COVARIATES = {
    "views": "page views",
    "links": "external links",
    "bytes": "size in bytes",
    "statements": "statements (facts extracted from it)",
}
"""The article properties that category difficulty is correlated with."""
DIFFICULTY = {
    "category": pl.String, "value": pl.Float64, "n_articles": pl.Int64, "n_reports": pl.Int64,
    "n_missing": pl.Int64, "value_complete": pl.Float64, "n_complete": pl.Int64,
    "views": pl.Float64, "n_views": pl.Int64, "links": pl.Float64, "n_links": pl.Int64,
    "bytes": pl.Float64, "n_bytes": pl.Int64, "statements": pl.Float64, "n_statements": pl.Int64,
}  # fmt: skip
"""A row per category, the hardest first. `value`: mean over its articles of the means over agents,
in the metric's unit. `n_articles`: articles with a value of any agent; `n_reports`: values;
`n_missing`: missing values of agents for these articles. `value_complete`: the same mean over the
`n_complete` articles that all agents have a value for; if the two differ, it matters who is
missing. The others are means over the articles, each with the number of articles."""
CORRELATION = {
    "covariate": pl.String, "n_categories": pl.Int64, "r": pl.Float64, "low": pl.Float64,
    "high": pl.Float64, "p": pl.Float64, "reason": pl.String,
}  # fmt: skip
"""A row for each of COVARIATES: Pearson's r (-1 to 1) between the category means of it and of the
metric, its 95 % interval and p over `n_categories`; null with a reason."""
ANOVA = {
    "agent": pl.String, "categories": pl.String, "f": pl.Float64, "df_between": pl.Int64,
    "df_within": pl.Int64, "p": pl.Float64, "p_adjusted": pl.Float64, "eta_squared": pl.Float64,
    "eta_squared_by_chance": pl.Float64, "n_articles": pl.Int64, "n_categories": pl.Int64,
    "n_single": pl.Int64, "reason": pl.String,
}  # fmt: skip
"""Two rows per agent: over all categories, as published, and over those with more than one article
of it. One-way analysis of variance over categories of its deviation from the category's `value`.
`eta_squared_by_chance`: the average of random categories. `p_adjusted`: adjusted for the number of
agents (Benjamini and Hochberg). `n_single`: categories with one article."""
ALL, REPEATED = "all", "of more than one article"
"""The categories that a row of ANOVA rests on."""
DIGITS = 12
"""Deviations are rounded to this many digits: equal values must not differ by float error."""


@dataclass(frozen=True)
class ArticleScores:
    """The values of a metric for the reports on an edition's articles."""

    values: Mapping[str, Mapping[str, float]]
    """Agent → article → value; without agents that have no value."""
    n_reports: Mapping[tuple[str, str], int]
    """(agent, article) → number of reports with a value."""
    articles: Mapping[str, Mapping[str, Any]]
    """Article → category, created_at and COVARIATES, for all articles of the edition."""

    def values_by_agent(self, article: str) -> dict[str, float]:
        """Return the agents' values for an article."""
        return {agent: of[article] for agent, of in self.values.items() if article in of}

    def by_category(self) -> dict[str, list[str]]:
        """Group the articles with a value of any agent; those without a category are left out."""
        valued = {article for of_agent in self.values.values() for article in of_agent}
        found: dict[str, list[str]] = defaultdict(list)
        for article in sorted(valued):
            if category := self.articles[article]["category"]:
                found[category].append(article)
        return dict(sorted(found.items()))


def load_article_scores(
    source: Readable, edition: str, judge: str, metric: Metric | None
) -> ArticleScores:
    """Load the values of a metric; none if the metric is None."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    parameters = [edition, judge, *(metric.key if metric else ("", ""))]
    for agent, article, value in source.frame(VALUES, parameters).iter_rows():
        found[agent][article].append(value)
    records = source.frame(ARTICLES, [edition]).to_dicts()
    return ArticleScores(
        values={
            agent: {article: fmean(values) for article, values in of_agent.items()}
            for agent, of_agent in found.items()
        },
        n_reports={
            (agent, article): len(values)
            for agent, of_agent in found.items()
            for article, values in of_agent.items()
        },
        articles={record.pop("article"): record for record in records},
    )


def measure_difficulty(of: ArticleScores, better: str = "higher") -> pl.DataFrame:
    """Return a frame of DIFFICULTY. better: which values are better ("higher", "lower")."""
    rows = [_summarize_category(of, name, articles) for name, articles in of.by_category().items()]
    frame = pl.DataFrame(rows, schema=DIFFICULTY, orient="row")
    return frame.sort("value", "category", descending=[better == "lower", False])


def correlate_difficulty(categories: pl.DataFrame) -> pl.DataFrame:
    """Compute a frame of CORRELATION from a frame of DIFFICULTY. A category that lacks a covariate
    is left out of that covariate's row only."""
    rows = []
    for name in COVARIATES:
        found = pearson(categories.select(name, "value").drop_nulls().rows())
        reason = found.reason
        if categories.height and categories[name].is_null().all():
            reason = f"no article of the edition records its {COVARIATES[name]}"
        rows.append((name, found.n, found.r, found.low, found.high, found.p, reason))
    return pl.DataFrame(rows, schema=CORRELATION, orient="row")


def run_anova(of: ArticleScores) -> pl.DataFrame:
    """Return a frame of ANOVA."""
    baseline = dict(measure_difficulty(of).select("category", "value").iter_rows())
    tested = [
        (agent, name, _test_agent(of, groups))
        for agent in sorted(of.values)
        for name, groups in _category_sets(_compute_deviations(of, agent, baseline))
    ]
    rows: list[tuple[Any, ...]] = []
    for name in (ALL, REPEATED):
        found = [(agent, one) for agent, which, one in tested if which == name]
        adjusted = benjamini_hochberg([one.p for _, one in found])
        rows += [
            (agent, name, one.f, one.df_between, one.df_within, one.p, p, one.eta_squared,
             one.eta_squared_by_chance, one.n, one.n_groups, one.n_single, one.reason)
            for (agent, one), p in zip(found, adjusted, strict=True)
        ]  # fmt: skip
    return pl.DataFrame(rows, schema=ANOVA, orient="row")


def find_single_categories(of: ArticleScores) -> list[str]:
    """Return the categories in which only one article has a value."""
    return [name for name, articles in of.by_category().items() if len(articles) == 1]


def _summarize_category(of: ArticleScores, name: str, articles: Sequence[str]) -> tuple[Any, ...]:
    agents = {article: of.values_by_agent(article) for article in articles}
    complete = [article for article in articles if len(agents[article]) == len(of.values)]
    covariates: list[float | None] = []
    for covariate in COVARIATES:
        values = [of.articles[article][covariate] for article in articles]
        covariates += (mean(values), sum(value is not None for value in values))
    return (
        name,
        fmean(fmean(agents[article].values()) for article in articles),
        len(articles),
        sum(of.n_reports[agent, article] for article in articles for agent in agents[article]),
        sum(len(of.values) - len(agents[article]) for article in articles),
        mean(fmean(agents[article].values()) for article in complete),
        len(complete),
        *covariates,
    )


def _compute_deviations(
    of: ArticleScores, agent: str, baseline: Mapping[str, float]
) -> dict[str, list[float]]:
    """Map each category to the agent's values minus the mean of all agents."""
    found: dict[str, list[float]] = defaultdict(list)
    for article, value in of.values[agent].items():
        category = of.articles[article]["category"]
        if category:
            found[category].append(round(value - baseline[category], DIGITS))
    return found


def _category_sets(
    groups: Mapping[str, list[float]],
) -> Iterator[tuple[str, dict[str, list[float]]]]:
    yield ALL, dict(groups)
    yield REPEATED, {name: values for name, values in groups.items() if len(values) > 1}


def _test_agent(of: ArticleScores, groups: Mapping[str, Sequence[float]]) -> OneWayAnova:
    found = one_way_anova(groups)
    if len(of.values) > 1:
        return found
    reason = "there is only one agent, which cannot deviate from its own mean"
    return OneWayAnova(n=found.n, n_groups=found.n_groups, n_single=found.n_single, reason=reason)
