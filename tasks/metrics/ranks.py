"""Ranks of agents, and the ranges of ranks that the data allow for each."""

from collections.abc import Iterable, Sequence

import polars as pl

SIGNIFICANCE_LEVEL = 0.05
"""Corrected p below which a difference counts as real."""


def rank_ranges(
    agents: Sequence[str], better: Iterable[tuple[str, str]]
) -> dict[str, tuple[int, int]]:
    """Return (first, last) possible rank of each agent; 1 is best.

    The first is 1 plus the number of significantly better agents, the last the number of agents
    minus the significantly worse ones. So with N agents (1, N) says nothing, and two ranges are
    disjoint only where one agent is significantly better than the other, or than others that are
    better than the other.
    Idea: Mogstad, Romano, Shaikh & Wilhelm 2024, "Inference for Ranks".

    Args:
        agents: Agents with a figure.
        better: Pairs whose first agent is significantly better; each pair at most once.
    """
    pairs = {(one, other) for one, other in better if one in agents and other in agents}
    return {
        agent: (
            1 + sum(other == agent for _, other in pairs),
            len(agents) - sum(one == agent for one, _ in pairs),
        )
        for agent in agents
    }


def can_be_significant(n_articles: int, n_pairs: int) -> bool:
    """Whether the largest possible difference of two agents would count as real.

    Of 2^n ways to swap the agents within n articles, two give the largest difference, so p is at
    least 2^(1-n); Holm's method multiplies the smallest p-value of k pairs by k.
    """
    return n_pairs * 2.0 ** (1 - n_articles) < SIGNIFICANCE_LEVEL


def competition_ranks(values: Sequence[float], *, higher_is_better: bool) -> list[int]:
    """Return the rank of each value, 1 is best; equal values share a rank."""
    ranked = pl.Series(values, dtype=pl.Float64).rank("min", descending=higher_is_better)
    return ranked.to_list()
