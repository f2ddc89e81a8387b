"""How often the correction for pairs errs, and what it finds, in simulated editions.

The tables of `randomization_test` are `simulate` with 2,000 editions each.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest

from tasks.metrics.cluster_sums import ScoreMatrix
from tasks.metrics.randomization_test import randomization_p_values
from tasks.metrics.resampling import Array, Draws

Lot = np.random.Generator
Made = tuple[Array, Array]
"""Numerators and denominators, a row per article, a column per agent."""
ALIKE, TWO_GROUPS, ALL_APART = [0.0] * 6, [0.0] * 3 + [0.2] * 3, [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
"""What is added to six agents' values."""
EDITIONS = 400


def normal(lot: Lot, shape: tuple[int, int]) -> Made:
    return 0.1 * lot.normal(size=shape), np.ones(shape)


def skewed(lot: Lot, shape: tuple[int, int]) -> Made:
    """Most near 0, some large; the article counts for half."""
    return lot.beta(0.5, 3, (shape[0], 1)) / 2 + lot.beta(0.3, 3, shape) / 2, np.ones(shape)


def heavy(lot: Lot, shape: tuple[int, int]) -> Made:
    return 0.05 * np.exp(lot.normal(size=shape)), np.ones(shape)


def with_gaps(lot: Lot, shape: tuple[int, int]) -> Made:
    """A fifth of the reports is missing."""
    there = (lot.random(shape) >= 0.2).astype(float)
    return skewed(lot, shape)[0] * there, there


def pooled(lot: Lot, shape: tuple[int, int]) -> Made:
    """Shares of pooled items: agents have from 3 to 20 items a report, unlike in size."""
    size = np.linspace(1.0, 3.0, shape[1])
    below = np.asarray(np.round(np.exp(0.8 * lot.normal(size=shape) + size)) + 1, dtype=float)
    return lot.binomial(below.astype(int), lot.beta(1, 3, shape)).astype(float), below


@dataclass(frozen=True)
class Simulated:
    """Of many editions."""

    errors: float
    """The share in which any two that are alike were told apart."""
    found: float
    """How many pairs of those that differ were told apart, on average."""
    errors_by_holm: float
    found_by_holm: float


def simulate(
    make: Callable[[Lot, tuple[int, int]], Made], levels: Sequence[float], n_articles: int,
    editions: int = EDITIONS, swaps: int = 999,
) -> Simulated:  # fmt: skip
    lot = np.random.default_rng(n_articles)
    n, pairs = len(levels), list(combinations(range(len(levels)), 2))
    alike = np.array([levels[one] == levels[other] for one, other in pairs])
    counted = np.zeros(4)
    for _ in range(editions):
        above, below = make(lot, (n_articles, n))
        items = ScoreMatrix(
            [str(k) for k in range(n)], n_articles, np.arange(n_articles),
            np.zeros(n_articles, np.int64), above + np.array(levels) * below, below,
        )  # fmt: skip
        draws = Draws(n_articles, seed=int(lot.integers(2**32)), swaps=swaps)
        p, corrected = np.array(randomization_p_values(items, pairs, draws)).T
        order = np.argsort(p, kind="stable")
        by_holm = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))[np.argsort(order)]
        for place, sure in enumerate((corrected < 0.05, by_holm < 0.05)):
            counted[2 * place :][:2] += (sure & alike).any(), (sure & ~alike).sum()
    return Simulated(*(counted / editions).tolist())


@pytest.mark.parametrize("n_articles", [8, 20])
@pytest.mark.parametrize("make", [normal, skewed, heavy, with_gaps, pooled])
def test_agents_that_are_alike_are_told_apart_in_5_of_100_editions(
    make: Callable[[Lot, tuple[int, int]], Made], n_articles: int
) -> None:
    # 400 editions: three standard errors of .05 are .033.
    assert simulate(make, ALIKE, n_articles).errors <= 0.083


@pytest.mark.parametrize("make", [normal, skewed])
def test_groups_that_are_apart_do_not_make_it_err_within_them(
    make: Callable[[Lot, tuple[int, int]], Made],
) -> None:
    found = simulate(make, TWO_GROUPS, 12)
    assert found.errors <= 0.083
    assert found.found >= 4


def test_with_eight_articles_six_agents_can_be_told_apart_where_holm_tells_none() -> None:
    found = simulate(normal, ALL_APART, 8)
    assert found.found_by_holm == 0
    assert found.found >= 8.5
