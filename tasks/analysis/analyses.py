"""The analyses of an edition by one judge: category difficulty and its correlates, agents over
categories, leakage, conflict, cost, and figures over time. Nothing is stored."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

import polars as pl

from tasks.analysis.difficulty import (
    ArticleScores,
    correlate_difficulty,
    find_single_categories,
    load_article_scores,
    measure_difficulty,
    run_anova,
)
from tasks.analysis.leakage import CONFLICT, LEAKAGE, explain_missing, load_figures
from tasks.analysis.protocols import Metric, find_headline_metrics
from tasks.analysis.trends import load_ages, load_trend, measure_contamination
from tasks.base import format_count
from tasks.costs.editions import load_agent_costs, load_judging_costs
from tasks.editions.names import UnknownName, check_edition, check_scored
from tasks.protocols.case import Protocol
from tasks.protocols.registry import available_protocols
from tasks.warehouse.store import Readable

PREFERRED = (("wiki_writing", "writing_overall"), ("wiki_fact", "coverage_wiki"))
"""The metrics to analyse if none is named: that of Wiki Live Challenge, then coverage."""
WITH_FIGURES = "SELECT DISTINCT protocol FROM leaderboard WHERE edition = $1 AND judge = $2"
VALUED = """
SELECT DISTINCT s.protocol, s.metric
FROM scores AS s JOIN assignments AS a USING (edition, assignment)
JOIN articles AS t USING (edition, article)
WHERE s.edition = $1 AND s.judge = $2 AND s.value IS NOT NULL
ORDER BY ALL
"""
Analysis = Literal[
    "difficulty", "correlation", "anova", "leakage", "conflict", "cost", "trend", "contamination"
]
TABLES: dict[Analysis, tuple[str, ...]] = {name: (name,) for name in get_args(Analysis)} | {
    "cost": ("cost", "judging"),
    "contamination": ("contamination", "ages"),
}
"""The frames of `Analyses` that each analysis consists of."""


@dataclass(frozen=True)
class Analyses:
    """All analyses of one edition by one judge."""

    edition: str
    judge: str
    metric: Metric | None
    """The metric analysed by category and age; None if no metric has values."""
    difficulty: pl.DataFrame
    """A frame of tasks.analysis.difficulty.DIFFICULTY."""
    correlation: pl.DataFrame
    """A frame of tasks.analysis.difficulty.CORRELATION."""
    anova: pl.DataFrame
    """A frame of tasks.analysis.difficulty.ANOVA."""
    leakage: pl.DataFrame
    """A frame of tasks.analysis.leakage.FIGURES."""
    conflict: pl.DataFrame
    """A frame of tasks.analysis.leakage.FIGURES."""
    cost: pl.DataFrame
    """A frame of tasks.costs.editions.COST."""
    judging: pl.DataFrame
    """A frame of tasks.costs.editions.JUDGING, for all judges."""
    trend: pl.DataFrame
    """A frame of tasks.analysis.trends.TREND: the metric and all headline metrics."""
    contamination: pl.DataFrame
    """A frame of tasks.analysis.trends.CONTAMINATION."""
    ages: pl.DataFrame
    """A frame of tasks.analysis.trends.AGES, from which `contamination` is computed."""
    remarks: Mapping[Analysis, tuple[str, ...]]
    """Notes for the reader, by analysis."""


def run_analyses(
    source: Readable,
    edition: str,
    judge: str,
    protocol: str | None = None,
    metric: str | None = None,
) -> Analyses:
    """Analyse an edition's figures by this judge.

    Args:
        protocol, metric: what to analyse by category and age; see `choose_metric` for the default.

    Raises:
        UnknownName: the edition is unknown, or has no figures by this judge, of this protocol, or
            of this metric.
    """
    check_edition(source, edition)
    check_scored(source, edition, [protocol] if protocol else [], [judge])
    with_figures = source.frame(WITH_FIGURES, [edition, judge])["protocol"]
    known = available_protocols(with_figures)
    valued = {(name, of) for name, of in source.frame(VALUED, [edition, judge]).iter_rows()}
    taken = choose_metric(known, valued, protocol, metric)
    of = load_article_scores(source, edition, judge, taken)
    categories = measure_difficulty(of, taken.entry.better if taken else "higher")
    points = load_ages(source, edition, of)
    judging_costs = load_judging_costs(source, edition)
    found = Analyses(
        edition=edition,
        judge=judge,
        metric=taken,
        difficulty=categories,
        correlation=correlate_difficulty(categories),
        anova=run_anova(of),
        leakage=load_figures(source, edition, judge, LEAKAGE),
        conflict=load_figures(source, edition, judge, CONFLICT),
        cost=load_agent_costs(source, edition, judge, judging_costs),
        judging=judging_costs,
        trend=load_trend(source, edition, judge, _choose_trend_metrics(known, taken)),
        contamination=measure_contamination(points),
        ages=points,
        remarks={},
    )
    remarks = {name: tuple(describe(found, of)) for name, describe in REMARKS.items()}
    return replace(found, remarks=remarks)


def choose_metric(
    known: Mapping[str, Protocol],
    valued: set[tuple[str, str]],
    protocol: str | None,
    metric: str | None,
) -> Metric | None:
    """Choose the metric to analyse: the named one, even without values; else the first of PREFERRED
    and then of the headline metrics that has values for articles; None if there is none.

    Raises:
        UnknownName: the protocol (any that has figures, if none is named) has no such metric, or
            is a rubric whose file is gone.
    """
    if protocol is not None and protocol not in known:
        raise UnknownName(
            f"{protocol} has figures, but its rubric is missing. List its file in "
            "EVERGREEN_RUBRICS, or put it into configs/rubrics."
        )
    of = {name: known[name] for name in known if protocol in (None, name)}
    if metric is not None:
        found = [Metric(p, entry) for p, one in of.items() for entry in one.metrics
                 if entry.name == metric]  # fmt: skip
        if not found:
            have = "; ".join(
                f"{p}: {', '.join(e.name for e in one.metrics)}" for p, one in of.items()
            )
            raise UnknownName(f"There is no metric {metric!r}; these have figures: {have}.")
        return next((each for each in found if each.key in valued), found[0])
    candidates = sorted(
        (each for name, one in of.items() for each in find_headline_metrics(name, one)),
        key=lambda each: PREFERRED.index(each.key) if each.key in PREFERRED else len(PREFERRED),
    )
    if protocol is not None and candidates:
        return next((each for each in candidates if each.key in valued), candidates[0])
    return next((each for each in candidates if each.key in valued), None)


def _choose_trend_metrics(known: Mapping[str, Protocol], taken: Metric | None) -> list[Metric]:
    """Return the analysed metric, then the headline metrics of each protocol."""
    first = [taken] if taken else []
    others = [each for name, one in known.items() for each in find_headline_metrics(name, one)]
    return first + [each for each in others if taken is None or each.key != taken.key]


def _explain_difficulty(found: Analyses, of: ArticleScores) -> Iterator[str]:
    if found.metric is None:
        yield f"No metric has a value by the judge {found.judge} for a report on an article."
        return
    name = "/".join(found.metric.key)
    if not of.values:
        yield f"{name} has no value by the judge {found.judge} for a report on an article."
        return
    if found.metric.key != PREFERRED[0]:
        yield f"The metric is {name}; the original analyses use {'/'.join(PREFERRED[0])}."
    yield from _list_left_out(found, of)
    if found.difficulty.is_empty():
        return
    if found.metric.entry.better == "none":
        yield "The lowest category comes first; by this metric no value is better."
    else:
        low = "low" if found.metric.entry.better == "higher" else "high"
        yield f"The hardest category comes first: a {low} value means a hard category."
    if missing := found.difficulty["n_missing"].sum():
        yield (
            f"Missing values: {missing}. A category's figure is the mean over articles of the "
            "means over the agents that have a value; the figure next to it uses only the articles "
            "for which all agents have one."
        )


def _list_left_out(found: Analyses, of: ArticleScores) -> Iterator[str]:
    """Yield which articles count in no category."""
    valued = {article for of_agent in of.values.values() for article in of_agent}
    without = sum(not of.articles[article]["category"] for article in valued)
    if without and found.difficulty.is_empty():
        yield f"No article of {found.edition} has a category to group by."
    elif without:
        yield f"Left out because their category is not known: {format_count(without, 'article')}."
    if never := len(of.articles) - len(valued):
        yield f"Left out because no agent has a value: {format_count(never, 'article')}."


def _explain_correlation(found: Analyses, _: ArticleScores) -> Iterator[str]:
    yield (
        "Correlations over the means of "
        f"{format_count(found.difficulty.height, 'category', 'categories')}, each counted once "
        "however many articles it has. r above 0: the larger the quantity, the higher the metric's "
        "values. Few categories make wide intervals."
    )


def _explain_anova(_: Analyses, of: ArticleScores) -> Iterator[str]:
    yield (
        "The analysis compares, between categories, an agent's value for an article minus the mean "
        "of all agents in its category. Eta squared is the share of the variance between "
        "categories; only the part above its value by chance counts."
    )
    yield (
        "An agent that scores near 0 everywhere deviates by the category's mean itself: its eta "
        "squared is high although it does equally badly in all categories."
    )
    if single := find_single_categories(of):
        yield (
            f"Categories with one article: {'; '.join(single)}. They have no variance within and "
            "raise eta squared; the second table leaves them out."
        )


def _explain_cost(found: Analyses, _: ArticleScores) -> Iterator[str]:
    yield (
        "In US dollars. Unknown costs are left empty and never count as 0; “free” means known to "
        "cost nothing. Extracting claims with a model and making assignments are not included."
    )
    if "unknown" in found.cost["reports_cost"].to_list():
        yield (
            "The cost of some reports is unknown: `evergreen agents cost` records what people "
            "spent on reports imported as files."
        )


def _explain_trend(found: Analyses, _: ArticleScores) -> Iterator[str]:
    if found.trend["edition"].n_unique() < 2:
        yield f"A trend needs two editions with figures by {found.judge}; there is only this one."
    shared = found.trend.filter(pl.col("n_shared") > 0)
    for edition, n in (
        shared.group_by("edition").agg(pl.col("n_shared").max()).sort("edition").rows()
    ):
        yield (
            f"{edition} shares {format_count(n, 'article')} with the edition before it: their "
            "figures stand side by side without a change, because agents may have seen the first "
            "edition's facts."
        )
    yield (
        "A change between editions without common articles reflects both the agent and how "
        "difficult the articles are."
    )


def _explain_contamination(found: Analyses, of: ArticleScores) -> Iterator[str]:
    yield (
        "A model trained on the older articles does better on them, which shows as values that "
        "rise with age. But older articles may also be better known or have more sources, and the "
        "absence of a slope does not prove that nothing was learned."
    )
    if undated := sum(record["created_at"] is None for record in of.articles.values()):
        yield f"Left out, creation date unknown: {format_count(undated, 'article')}."


REMARKS: dict[Analysis, Callable[[Analyses, ArticleScores], Iterator[str]]] = {
    "difficulty": _explain_difficulty,
    "correlation": _explain_correlation,
    "anova": _explain_anova,
    "leakage": lambda found, _: explain_missing(found.leakage, "leakage"),
    "conflict": lambda found, _: explain_missing(found.conflict, "conflict"),
    "cost": _explain_cost,
    "trend": _explain_trend,
    "contamination": _explain_contamination,
}
