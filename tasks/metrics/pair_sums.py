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
