"""Random draws of an edition's articles, made once for all agents, pairs and metrics.

The draws depend only on the seed and on how many articles the edition has, never on who has reports
of them: no agent's interval hangs on another agent. An article that an agent lacks weighs nothing
in its figures.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Octets = npt.NDArray[np.uint8]

SEED = 20_250_311
"""Seed of every draw; stored with the figures."""
RESAMPLES = 5_000
SWAPS = 9_999
"""Number of swaps to draw if there are more in total."""
MAX_WEIGHTS_IN_MEMORY = 4_000_000
"""Weights of clusters, or sums by them, held as floating-point numbers at a time. No figure depends
on it."""


@dataclass(frozen=True)
class Draws:
    """Resamples of so many clusters, and swaps of two agents within them.

    Kept as octets and bits: 6 kB a cluster, less than an article's scores take.
    """

    n_clusters: int
    seed: int = SEED
    resamples: int = RESAMPLES
    swaps: int = SWAPS

    @cached_property
    def _counts(self) -> Octets:
        """How often each cluster was drawn, a row per resample: at most 255 times, as only more
        clusters than that could be drawn more often, and then none is."""
        random = np.random.default_rng(self.seed)
        found = np.empty((self.resamples, self.n_clusters), np.uint8)
        for rows in self._blocks(self.resamples, self.n_clusters):
            drawn = random.integers(0, self.n_clusters, found[rows].shape)
            places = drawn + self.n_clusters * np.arange(len(drawn))[:, None]
            counted = np.bincount(places.ravel(), minlength=drawn.size)
            found[rows] = counted.reshape(drawn.shape)
        return found

    @cached_property
    def _swapped(self) -> Octets:
        """Whether the agents are swapped within each cluster, a row per swap, as bits."""
        n_octets = -(-self.n_clusters // 8)
        drawn = np.random.default_rng(self.seed).bytes(self.swaps * n_octets)
        return np.frombuffer(drawn, np.uint8).reshape(self.swaps, n_octets)

    def count_blocks(self, clusters: Mask, n_sums: int = 1) -> Iterator[Array]:
        """Yield how often these clusters were drawn: a row per resample, a column per cluster.

        n_sums: Sums that a resample is used for; they are held, too.
        """
        for rows in self._blocks(self.resamples, max(int(clusters.sum()), n_sums)):
            yield _select(self._counts[rows], clusters)

    def swap_blocks(self, clusters: Mask, n_sums: int = 1) -> Iterator[Array]:
        """Yield in which of these clusters the agents are swapped (1) or not (0), a row per swap:
        every way if `is_exact`, else drawn ones. n_sums: as for `count_blocks`."""
        n = int(clusters.sum())
        if self.is_exact(n):
            yield (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.float64)
            return
        for rows in self._blocks(self.swaps, max(n, n_sums)):
            bits = np.unpackbits(self._swapped[rows], axis=1, count=self.n_clusters)
            yield _select(bits, clusters)

    def is_exact(self, n_clusters: int) -> bool:
        """Whether there are no more ways to swap so many clusters than would be drawn."""
        return 1 << n_clusters <= self.swaps

    @staticmethod
    def _blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
        size = max(1, MAX_WEIGHTS_IN_MEMORY // max(1, n_columns))
        for start in range(0, n_rows, size):
            yield slice(start, min(start + size, n_rows))


def _select(octets: Octets, clusters: Mask) -> Array:
    return (octets if clusters.all() else octets[:, clusters]).astype(np.float64)


@lru_cache(maxsize=1)
def draw_clusters(n_clusters: int) -> Draws:
    """Return the draws of so many clusters; the last ones are kept for the next metric."""
    return Draws(n_clusters)
