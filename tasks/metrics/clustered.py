"""Figures as functions of sums over clusters: what is drawn again or swapped is a whole cluster.

A mean over reports, a share of pooled items and a mean over categories are all the same sums, with
other numerators and denominators; the figure of all clusters is that of `aggregates.aggregate`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from tasks.metrics.aggregates import Aggregate
from tasks.metrics.resampling import Array

Mask = npt.NDArray[np.bool_]
NameT = TypeVar("NameT", str, tuple[str, str])


@dataclass(frozen=True)
class Sums:
    """Per cluster, agent and category (one where the metric knows none) the sum of what is counted
    and of what it is divided by."""

    numerators: Array
    denominators: Array

    @property
    def n_clusters(self) -> int:
        return int(self.numerators.shape[0])

    def figures(self, counts: Array) -> Array:
        """A row per agent, a column per row of `counts` (how often each cluster counts): the mean
        over the categories that have anything of the categories' shares; NaN without any."""
        return self._means(
            self._summed(counts, self.numerators), self._summed(counts, self.denominators)
        )

    def whole(self) -> Array:
        """The figure of each agent over all clusters."""
        return self.figures(np.ones((1, self.n_clusters)))[:, 0]

    def by_cluster(self) -> Array:
        """A row per agent, a column per cluster: the figure of that cluster alone."""
        return self._means(self.numerators, self.denominators)

    def is_linear(self) -> bool:
        """Whether all agents divide by the same, so that differences of figures are sums."""
        first = self.denominators[:, :1, :]
        return bool((self.denominators == first).all())

    @staticmethod
    def _means(above: Array, below: Array) -> Array:
        there = below > 0
        shares = np.divide(above, below, out=np.zeros_like(above), where=there)
        n_there = there.sum(axis=2)
        with np.errstate(invalid="ignore"):
            found: Array = np.where(n_there > 0, shares.sum(axis=2) / n_there, np.nan)
        return found.T

    @staticmethod
    def _summed(counts: Array, values: Array) -> Array:
        n_clusters, n_agents, n_categories = values.shape
        flat = counts @ values.reshape(n_clusters, n_agents * n_categories)
        return flat.reshape(len(counts), n_agents, n_categories)


@dataclass(frozen=True)
class Items:
    """What the figures are sums of: a row per assignment, a column per agent."""

    agents: list[str]
    clusters: npt.NDArray[np.int64]
    """Of each assignment, by number."""
    categories: npt.NDArray[np.int64]
    numerators: Array
    denominators: Array
    """0 where the agent has no value."""

    @property
    def counted(self) -> Mask:
        """Which agent has something of which assignment."""
        found: Mask = self.denominators > 0
        return found

    def sums(self, rows: Mask, columns: Sequence[int]) -> Sums:
        """By the clusters of these assignments, for these agents."""
        _, cluster = np.unique(self.clusters[rows], return_inverse=True)
        n_categories = int(self.categories.max(initial=0)) + 1
        shape = (int(cluster.max(initial=-1)) + 1, len(columns), n_categories)
        sums = Sums(np.zeros(shape), np.zeros(shape))
        place: Any = (cluster, slice(None), self.categories[rows])
        np.add.at(sums.numerators, place, self.numerators[rows][:, columns])
        np.add.at(sums.denominators, place, self.denominators[rows][:, columns])
        return sums


def items_of(
    scores: pl.DataFrame,
    how: Aggregate,
    category_of: Mapping[str, str],
    article_of: Mapping[str, str | None],
) -> Items:
    """What `aggregate` sums, agent by agent.

    Args:
        scores: agent, assignment, value, numerator and n_items, also without a value.
        how: as `aggregates.aggregate` has it.
        category_of: of assignments; those without one are a category together.
        article_of: of assignments; one without an article is a cluster of its own.
    """
    agents = sorted(set(scores["agent"]))
    assignments = sorted(set(scores["assignment"]))
    column, row = ({name: n for n, name in enumerate(names)} for names in (agents, assignments))
    above = np.zeros((len(assignments), len(agents)))
    below = np.zeros_like(above)
    pooled = how == "micro"
    counted = scores.filter(pl.col("value").is_not_null()).select(
        "agent",
        "assignment",
        pl.col("numerator" if pooled else "value").cast(pl.Float64),
        (pl.col("n_items") if pooled else pl.lit(1.0)).cast(pl.Float64).alias("below"),
    )
    for agent, assignment, numerator, denominator in counted.iter_rows():
        above[row[assignment], column[agent]] = numerator
        below[row[assignment], column[agent]] = denominator
    return Items(
        agents,
        _numbers([_cluster(name, article_of) for name in assignments]),
        _numbers(
            [category_of.get(name, "") if how == "by_category" else "" for name in assignments]
        ),
        above,
        below,
    )


def _cluster(assignment: str, article_of: Mapping[str, str | None]) -> tuple[str, str]:
    article = article_of.get(assignment)
    return ("article", article) if article else ("assignment", assignment)


def _numbers(names: Sequence[NameT]) -> npt.NDArray[np.int64]:
    number = {name: n for n, name in enumerate(sorted(set(names)))}
    return np.array([number[name] for name in names], dtype=np.int64)
