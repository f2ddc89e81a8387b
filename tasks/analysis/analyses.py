"""The published analyses of an edition, by one judge: difficulty per category and what goes with
it, agents over categories, leakage, conflict, cost, and figures over time. Nothing is stored."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import polars as pl

from tasks.analysis.difficulty import (
    Scored,
    anova,
    correlations,
    difficulty,
    scored,
    single_categories,
)
from tasks.analysis.leakage import conflict, leakage, without_value
from tasks.analysis.protocols import Metric, headlines
from tasks.analysis.trends import ages, contamination, trend
from tasks.costs.editions import costs, judging
from tasks.editions.names import UnknownName, check_known, check_scored
from tasks.protocols.case import Protocol
from tasks.protocols.registry import at_hand
from tasks.warehouse.store import Readable

PREFERRED = (("wiki_writing", "writing_overall"), ("wiki_fact", "coverage_wiki"))
"""Which metric is analysed where none is named: the published choice, then coverage."""
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
TABLES: dict[Analysis, tuple[str, ...]] = {
    "difficulty": ("difficulty",),
    "correlation": ("correlation",),
    "anova": ("anova",),
    "leakage": ("leakage",),
    "conflict": ("conflict",),
    "cost": ("cost", "judging"),
    "trend": ("trend",),
    "contamination": ("contamination", "ages"),
}
"""The analyses, and the frames of `Analyses` that each is made of."""


@dataclass(frozen=True)
class Analyses:
    """All of it for one edition and judge."""

    edition: str
    judge: str
    metric: Metric | None
    """Whose values are analysed by category and age; None where nothing has any."""
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
    """A frame of tasks.costs.editions.JUDGING: of all judges."""
    trend: pl.DataFrame
    """A frame of trends.TREND: the metric, and those that stand for each protocol."""
    contamination: pl.DataFrame
    """A frame of tasks.analysis.trends.CONTAMINATION."""
    ages: pl.DataFrame
    """A frame of tasks.analysis.trends.AGES: what `contamination` rests on."""
    remarks: Mapping[Analysis, tuple[str, ...]]
    """By analysis what has to be known to read it."""


def analyses(
    source: Readable,
    edition: str,
    judge: str,
    protocol: str | None = None,
    metric: str | None = None,
) -> Analyses:
    """The analyses of an edition's figures by this judge.

    Args:
        protocol, metric: what is analysed by category and age; see `chosen` where not given.

    Raises:
        UnknownName: edition, or no figures by this judge, of this protocol, or of this metric.
    """
    check_known(source, edition)
    check_scored(source, edition, [protocol] if protocol else [], judge)
    known = _known(source, edition, judge)
    valued = {(name, of) for name, of in source.frame(VALUED, [edition, judge]).iter_rows()}
    taken = chosen(known, valued, protocol, metric)
    of = scored(source, edition, judge, taken)
    categories = difficulty(of, taken.entry.better if taken else "higher")
    points = ages(source, edition, of)
    of_judging = judging(source, edition)
    found = Analyses(
        edition=edition,
        judge=judge,
        metric=taken,
        difficulty=categories,
        correlation=correlations(categories),
        anova=anova(of),
        leakage=leakage(source, edition, judge),
        conflict=conflict(source, edition, judge),
        cost=costs(source, edition, judge, of_judging),
        judging=of_judging,
        trend=trend(source, edition, judge, _shown(known, taken)),
        contamination=contamination(points),
        ages=points,
        remarks={},
    )
    return replace(
        found, remarks={name: tuple(describe(found, of)) for name, describe in REMARKS.items()}
    )


def chosen(
    known: Mapping[str, Protocol],
    valued: set[tuple[str, str]],
    protocol: str | None,
    metric: str | None,
) -> Metric | None:
    """What is analysed: the metric that is named, or the first of PREFERRED, or else of what
    stands for a protocol, that has values for articles. None where nothing has; one that is named
    is taken even without values.

    Raises:
        UnknownName: the protocol (any that has figures, if none is named) has no such metric, or
            is a rubric whose file is gone.
    """
    if protocol is not None and protocol not in known:
        raise UnknownName(
            f"{protocol}'s figures are kept, but its rubric is not at hand. List its file in "
            "EVERGREEN_RUBRICS, or put it into configs/rubrics."
        )
    of = {name: known[name] for name in known if protocol in (None, name)}
    if metric is not None:
        found = [Metric(p, entry) for p, one in of.items() for entry in one.metrics
                 if entry.name == metric]  # fmt: skip
        if not found:
            have = "; ".join(f"{p}: {', '.join(e.name for e in one.metrics)}"
                             for p, one in of.items())  # fmt: skip
            raise UnknownName(f"There is no metric {metric!r}. These have figures: {have}.")
        return next((each for each in found if each.key in valued), found[0])
    candidates = sorted(
        (each for name, one in of.items() for each in headlines(name, one)),
        key=lambda each: _preference(each.key),
    )
    if protocol is not None and candidates:
        return next((each for each in candidates if each.key in valued), candidates[0])
    return next((each for each in candidates if each.key in valued), None)


def _known(source: Readable, edition: str, judge: str) -> dict[str, Protocol]:
    """The protocols that have figures by this judge, as far as they are at hand."""
    sql = "SELECT DISTINCT protocol FROM leaderboard WHERE edition = $1 AND judge = $2"
    return at_hand(source.frame(sql, [edition, judge])["protocol"])


def _preference(key: tuple[str, str]) -> int:
    return PREFERRED.index(key) if key in PREFERRED else len(PREFERRED)


def _shown(known: Mapping[str, Protocol], taken: Metric | None) -> list[Metric]:
    """The metric that is analysed, then those that stand for each protocol."""
    first = [taken] if taken else []
    others = [each for name, one in known.items() for each in headlines(name, one)]
    return first + [each for each in others if taken is None or each.key != taken.key]


def _of_difficulty(found: Analyses, of: Scored) -> Iterator[str]:
    if found.metric is None:
        yield f"No metric has a value by the judge {found.judge} for a report on an article."
        return
    name = "/".join(found.metric.key)
    if not of.values:
        yield f"{name} has no value by the judge {found.judge} for a report on an article."
        return
    if found.metric.key != PREFERRED[0]:
        yield f"Of {name}. The published analyses are of {'/'.join(PREFERRED[0])}."
    yield from _left_out(found, of)
    if found.difficulty.is_empty():
        return
    low = "low" if found.metric.entry.better == "higher" else "high"
    yield f"The hardest first: a {low} value is a hard category."
    if missing := found.difficulty["n_missing"].sum():
        yield (
            f"Values that are missing: {missing}. A category's figure is a mean over articles of "
            "the means over the agents that have one; beside it stands that over the articles "
            "that all agents have a value for."
        )


def _left_out(found: Analyses, of: Scored) -> Iterator[str]:
    """Articles that no category's figure rests on."""
    valued = {article for of_agent in of.values.values() for article in of_agent}
    without = sum(not of.articles[article]["category"] for article in valued)
    if without and found.difficulty.is_empty():
        yield f"No article of {found.edition} has a category: there is nothing to group by."
    elif without:
        yield f"Left out, without a category: {_n(without, 'article')}."
    if never := len(of.articles) - len(valued):
        yield f"Left out, without a value of any agent: {_n(never, 'article')}."


def _of_correlation(found: Analyses, _: Scored) -> Iterator[str]:
    yield (
        f"Over the means of {_n(found.difficulty.height, 'category', 'categories')}, each counted "
        "once however many articles it has. r above 0: the more of it, the higher the metric's "
        "values. The intervals say how little so few categories can tell."
    )


def _of_anova(_: Analyses, of: Scored) -> Iterator[str]:
    yield (
        "An agent's value for an article less the mean of all agents in its category, over "
        "categories. Eta squared is the share of its variance that lies between them; by chance "
        "alone it would be as high as said beside it, so only what is above that counts."
    )
    yield (
        "An agent that scores near 0 everywhere deviates by the category's mean itself: its eta "
        "squared is high although it treats all categories alike."
    )
    if single := single_categories(of):
        yield (
            f"Categories of one article: {'; '.join(single)}. They have no spread of their own "
            "and raise eta squared; the second figures are without them."
        )


def _of_leakage(found: Analyses, _: Scored) -> Iterator[str]:
    yield from without_value(found.leakage, "leakage")


def _of_conflict(found: Analyses, _: Scored) -> Iterator[str]:
    yield from without_value(found.conflict, "conflict")


def _of_cost(found: Analyses, _: Scored) -> Iterator[str]:
    yield (
        "US dollars. What is not known is left empty and never counts as 0; “free” is said where "
        "it is known to cost nothing. Extracting claims by a model, and making assignments, is not "
        "in it."
    )
    if "unknown" in found.cost["reports_cost"].to_list():
        yield (
            "Nobody has said what some reports cost: `evergreen agents cost` enters what people "
            "spent on those that came as files."
        )


def _of_trend(found: Analyses, _: Scored) -> Iterator[str]:
    if found.trend["edition"].n_unique() < 2:
        yield f"A trend needs two editions with figures by {found.judge}; there is only this one."
    yield (
        "Every edition has articles of its own: a change is one of the agent and of how difficult "
        "its articles are."
    )


def _of_contamination(found: Analyses, of: Scored) -> Iterator[str]:
    yield (
        "A model that has learned the older articles does better on them, which shows as a slope "
        "that rises with age; but older articles may also be better known or have more sources, "
        "and no slope does not show that nothing was learned."
    )
    if undated := sum(record["created_at"] is None for record in of.articles.values()):
        yield f"Left out, without a date of creation: {_n(undated, 'article')}."


def _n(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


REMARKS: dict[Analysis, Callable[[Analyses, Scored], Iterator[str]]] = {
    "difficulty": _of_difficulty,
    "correlation": _of_correlation,
    "anova": _of_anova,
    "leakage": _of_leakage,
    "conflict": _of_conflict,
    "cost": _of_cost,
    "trend": _of_trend,
    "contamination": _of_contamination,
}
