"""Figures, and differences of two agents, as functions of sums over clusters, so that whole
clusters can be resampled or swapped.

Means over reports, shares of pooled items and means over categories differ only in numerators and
denominators. The figure over all clusters equals that of `ratios.aggregate`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from tasks.metrics.ratios import Aggregate
from tasks.metrics.resampling import Array, Mask

Side = tuple[int, int]
"""An agent, and another: its scores of those assignments for which both have a value."""


@dataclass(frozen=True)
class ClusterSums:
    """Numerators and denominators summed by cluster, category (a single one where the metric has
    none) and side."""

    numerators: Array
    denominators: Array

    @cached_property
    def has_value(self) -> Mask:
        """A row per cluster, a column per side."""
        return np.asarray((self.denominators > 0).any(axis=1))

    @cached_property
    def flat(self) -> Array:
        """All sums, a row per cluster."""
        both = np.concatenate((self.numerators, self.denominators), axis=1)
        return both.reshape(len(both), both.shape[1] * both.shape[2])

    def figures(self, sums: Array) -> Array:
        """Return the mean of the categories' shares, a row per side, a column per row of `sums`
        (weighted sums of `flat`). Empty categories are left out; NaN if all are empty."""
        _, n_categories, n_sides = self.numerators.shape
        above, below = np.moveaxis(sums.reshape(len(sums), 2, n_categories, n_sides), 1, 0)
        return _average(above, below).T

    def by_cluster(self) -> Array:
        """Return the figure of each cluster alone, a row per cluster, a column per side."""
        return _average(self.numerators, self.denominators)


def _average(above: Array, below: Array) -> Array:
    nonempty = below > 0
    shares = np.divide(above, below, out=np.zeros_like(above), where=nonempty)
    n_nonempty = nonempty.sum(axis=1)
    with np.errstate(invalid="ignore"):
        found: Array = np.where(n_nonempty > 0, shares.sum(axis=1) / n_nonempty, np.nan)
    return found


@dataclass(frozen=True)
class ScoreMatrix:
    """Numerators and denominators of the reports: a row per assignment, a column per agent."""

    agents: list[str]
    n_clusters: int
    """Also those that no agent has a report of."""
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

    def sums(self, sides: Sequence[Side]) -> ClusterSums:
        """Sum the scores of each side by cluster and category."""
        agents, others = ([side[n] for side in sides] for n in (0, 1))
        there = self.has_value[:, agents] & self.has_value[:, others]
        return ClusterSums(
            self._sum(self.numerators[:, agents] * there),
            self._sum(self.denominators[:, agents] * there),
        )

    def _sum(self, values: Array) -> Array:
        # SciPy takes a while to import, and most commands sum nothing.
        from scipy.sparse import csr_array

        n_categories = int(self.categories.max(initial=0)) + 1
        rows, n = self.clusters * n_categories + self.categories, len(values)
        place = csr_array(
            (np.ones(n), (rows, np.arange(n))), shape=(self.n_clusters * n_categories, n)
        )
        summed: Array = place @ values
        return summed.reshape(self.n_clusters, n_categories, values.shape[1])


def build_score_matrix(
    scores: pl.DataFrame,
    how: Aggregate,
    category_of: Mapping[str, str],
    article_of: Mapping[str, str | None],
    assignable: Collection[str] = (),
) -> ScoreMatrix:
    """Return what `aggregate` sums, for all agents.

    Args:
        scores: agent, assignment, value (may be null), numerator and n_items.
        how: As for `ratios.aggregate`.
        category_of: Category per assignment; assignments without one form a category together.
        article_of: Article per assignment; an assignment without one is a cluster of its own.
        assignable: All assignments that agents can have scores of; those of `scores` count anyway.
    """
    agents, assignments = (scores[name].unique().sort() for name in ("agent", "assignment"))
    keys: dict[str, tuple[str, str]] = {}
    for name in {*assignable, *assignments}:
        article = article_of.get(name)
        keys[name] = ("article", article) if article else ("assignment", name)
    number = {key: n for n, key in enumerate(sorted(set(keys.values())))}
    named = [category_of.get(name, "") if how == "by_category" else "" for name in assignments]
    category = {name: n for n, name in enumerate(sorted(set(named)))}
    pooled = how == "micro"
    valued = scores.filter(pl.col("value").is_not_null())
    place = (
        assignments.search_sorted(valued["assignment"]).to_numpy(),
        agents.search_sorted(valued["agent"]).to_numpy(),
    )
    above = np.zeros((len(assignments), len(agents)))
    below = np.zeros_like(above)
    above[place] = valued["numerator" if pooled else "value"].cast(pl.Float64).to_numpy()
    below[place] = valued["n_items"].to_numpy() if pooled else 1.0
    return ScoreMatrix(
        agents.to_list(),
        len(number),
        np.array([number[keys[name]] for name in assignments], dtype=np.int64),
        np.array([category[name] for name in named], dtype=np.int64),
        above,
        below,
    )


NEGLIGIBLE = 1e-12
"""Smaller differences count as zero."""


@dataclass(frozen=True)
class PairSums:
    """The sums of both agents of some pairs, over the assignments for which both have a value."""

    first: ClusterSums
    second: ClusterSums

    @cached_property
    def are_linear(self) -> Mask:
        """Whether both agents of a pair divide by the same, so that its difference is a sum."""
        return np.asarray((self.first.denominators == self.second.denominators).all(axis=(0, 1)))

    @cached_property
    def drawn(self) -> ClusterSums:
        """What the differences need: if all are linear the differences, else both sides."""
        sides = self.first, self.second
        if self.are_linear.all():
            return ClusterSums(subtract(*(s.numerators for s in sides)), self.first.denominators)
        return ClusterSums(
            np.concatenate([side.numerators for side in sides], axis=2),
            np.concatenate([side.denominators for side in sides], axis=2),
        )

    def differences(self, sums: Array) -> Array:
        """Return the differences of the figures, a row per pair, a column per row of `sums`
        (weighted sums of `drawn.flat`); NaN where an agent has no figure."""
        figures = self.drawn.figures(sums)
        return figures if self.are_linear.all() else np.subtract(*np.split(figures, 2))


def sum_pairs(items: ScoreMatrix, pairs: Sequence[Side]) -> PairSums:
    """Sum both sides of these pairs of agents."""
    return PairSums(items.sums(pairs), items.sums([(other, one) for one, other in pairs]))


def subtract(one: Array, other: Array | float) -> Array:
    """Return the differences; negligible ones are 0."""
    apart = one - other
    return np.where(np.abs(apart) < NEGLIGIBLE, 0.0, apart)
