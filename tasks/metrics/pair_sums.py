"""Differences of two agents as functions of sums over the clusters that both have."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tasks.metrics.cluster_sums import ClusterSums, ScoreMatrix, Side
from tasks.metrics.draws import Array, Mask

NEGLIGIBLE = 1e-12
"""Smaller differences count as zero."""


@dataclass(frozen=True)
class PairSums:
    """The sums of both agents of some pairs, over the assignments for which both have a value."""

    first: ClusterSums
    second: ClusterSums

    @cached_property
    def has_both(self) -> Mask:
        """Whether a cluster has a value of both agents: a row per cluster, a column per pair."""
        return self.first.has_value

    @cached_property
    def are_linear(self) -> Mask:
        """Whether both agents of a pair divide by the same, so that its difference is a sum."""
        return np.asarray((self.first.denominators == self.second.denominators).all(axis=(0, 1)))

    def select(self, pairs: Mask) -> "PairSums":
        return PairSums(self.first.select(pairs), self.second.select(pairs))

    @cached_property
    def _resampled(self) -> ClusterSums:
        """What the differences need: if all are linear the differences, else both sides."""
        if self.are_linear.all():
            apart = self.first.numerators - self.second.numerators
            apart[np.abs(apart) < NEGLIGIBLE] = 0.0
            return ClusterSums(apart, self.first.denominators)
        return ClusterSums(
            np.concatenate((self.first.numerators, self.second.numerators), axis=2),
            np.concatenate((self.first.denominators, self.second.denominators), axis=2),
        )

    @property
    def flat(self) -> Array:
        """All sums that the differences rest on, a row per cluster."""
        return self._resampled.flat

    def differences(self, sums: Array) -> Array:
        """Return the differences of the figures, a row per pair, a column per row of `sums`
        (weighted sums of `flat`); NaN where an agent has no figure."""
        figures = self._resampled.figures(sums)
        if self.are_linear.all():
            return figures
        n_pairs = len(figures) // 2
        return figures[:n_pairs] - figures[n_pairs:]

    def overall(self) -> Array:
        """Return each pair's difference over all clusters."""
        found = self.differences(self.flat.sum(axis=0)[None])[:, 0]
        return np.where(np.abs(found) < NEGLIGIBLE, 0.0, found)

    def by_cluster(self) -> Array:
        """Return the difference within each cluster alone, a row per cluster, a column per pair;
        NaN where the cluster has none."""
        return self.first.by_cluster() - self.second.by_cluster()

    def shares(self) -> Array:
        """Return what each cluster adds to the differences, which must be linear: a row per
        cluster."""
        below = self.first.denominators.sum(axis=0)
        nonempty = below > 0
        weights = np.divide(1.0, below, out=np.zeros_like(below), where=nonempty)
        weights /= np.maximum(nonempty.sum(axis=0), 1)
        shares: Array = (self._resampled.numerators * weights).sum(axis=1)
        return shares


def sum_pairs(items: ScoreMatrix, pairs: Sequence[Side]) -> PairSums:
    """Sum both sides of these pairs of agents."""
    return PairSums(items.sums(pairs), items.sums([(other, one) for one, other in pairs]))
