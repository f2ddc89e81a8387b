"""Figures as functions of sums over clusters, so that whole clusters can be resampled or swapped.

Means over reports, shares of pooled items and means over categories differ only in numerators and
denominators. The figure over all clusters equals that of `aggregates.aggregate`.
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
class ClusterSums:
    """Numerators and denominators summed by cluster, agent and category (a single category where
    the metric has none)."""

    numerators: Array
    denominators: Array

    @property
    def n_clusters(self) -> int:
        return int(self.numerators.shape[0])

    def figures(self, counts: Array) -> Array:
        """Return the mean of the categories' shares, a row per agent, a column per row of `counts`
        (how often each cluster counts). Empty categories are left out; NaN if all are empty."""
        return self._means(
            self._weighted_sums(counts, self.numerators),
            self._weighted_sums(counts, self.denominators),
        )

    def overall(self) -> Array:
        """Return the figure of each agent over all clusters."""
        return self.figures(np.ones((1, self.n_clusters)))[:, 0]

    def by_cluster(self) -> Array:
        """Return the figure of each cluster alone, a row per agent, a column per cluster."""
        return self._means(self.numerators, self.denominators)

    def is_linear(self) -> bool:
        """Whether all agents have the same denominators, so that differences of figures are
        sums."""
        first = self.denominators[:, :1, :]
        return bool((self.denominators == first).all())

    @staticmethod
    def _means(above: Array, below: Array) -> Array:
        nonempty = below > 0
        shares = np.divide(above, below, out=np.zeros_like(above), where=nonempty)
        n_nonempty = nonempty.sum(axis=2)
        with np.errstate(invalid="ignore"):
            found: Array = np.where(n_nonempty > 0, shares.sum(axis=2) / n_nonempty, np.nan)
        return found.T

    @staticmethod
    def _weighted_sums(counts: Array, values: Array) -> Array:
        n_clusters, n_agents, n_categories = values.shape
        flat = counts @ values.reshape(n_clusters, n_agents * n_categories)
        return flat.reshape(len(counts), n_agents, n_categories)


@dataclass(frozen=True)
class ScoreMatrix:
    """Numerators and denominators of the reports: a row per assignment, a column per agent."""

    agents: list[str]
    clusters: npt.NDArray[np.int64]
    """The cluster number of each assignment."""
    categories: npt.NDArray[np.int64]
    numerators: Array
    denominators: Array
    """0 where the agent has no value."""

    @property
    def has_value(self) -> Mask:
        """Whether the agent has a value for the assignment."""
        found: Mask = self.denominators > 0
        return found

    def sums(self, rows: Mask, columns: Sequence[int]) -> ClusterSums:
        """Sum these assignments by cluster, for these agents."""
        _, cluster = np.unique(self.clusters[rows], return_inverse=True)
        n_categories = int(self.categories.max(initial=0)) + 1
        shape = (int(cluster.max(initial=-1)) + 1, len(columns), n_categories)
        sums = ClusterSums(np.zeros(shape), np.zeros(shape))
        place: Any = (cluster, slice(None), self.categories[rows])
        np.add.at(sums.numerators, place, self.numerators[rows][:, columns])
        np.add.at(sums.denominators, place, self.denominators[rows][:, columns])
        return sums


def build_score_matrix(
    scores: pl.DataFrame,
    how: Aggregate,
    category_of: Mapping[str, str],
    article_of: Mapping[str, str | None],
) -> ScoreMatrix:
    """Return what `aggregate` sums, for all agents.

    Args:
        scores: agent, assignment, value (may be null), numerator and n_items.
        how: As for `aggregates.aggregate`.
        category_of: Category per assignment; assignments without one form a category together.
        article_of: Article per assignment; an assignment without one is a cluster of its own.
    """
    agents = sorted(set(scores["agent"]))
    assignments = sorted(set(scores["assignment"]))
    column, row = ({name: n for n, name in enumerate(names)} for names in (agents, assignments))
    above = np.zeros((len(assignments), len(agents)))
    below = np.zeros_like(above)
    pooled = how == "micro"
    valued = scores.filter(pl.col("value").is_not_null()).select(
        "agent",
        "assignment",
        pl.col("numerator" if pooled else "value").cast(pl.Float64),
        (pl.col("n_items") if pooled else pl.lit(1.0)).cast(pl.Float64).alias("below"),
    )
    for agent, assignment, numerator, denominator in valued.iter_rows():
        above[row[assignment], column[agent]] = numerator
        below[row[assignment], column[agent]] = denominator
    return ScoreMatrix(
        agents,
        _number_names([_cluster_key(name, article_of) for name in assignments]),
        _number_names(
            [category_of.get(name, "") if how == "by_category" else "" for name in assignments]
        ),
        above,
        below,
    )


def _cluster_key(assignment: str, article_of: Mapping[str, str | None]) -> tuple[str, str]:
    article = article_of.get(assignment)
    return ("article", article) if article else ("assignment", assignment)


def _number_names(names: Sequence[NameT]) -> npt.NDArray[np.int64]:
    number = {name: n for n, name in enumerate(sorted(set(names)))}
    return np.array([number[name] for name in names], dtype=np.int64)
