"""Ranks of agents, and the ranges of ranks that the data allow for each."""

import math
from collections.abc import Iterable, Sequence
from statistics import NormalDist

SIGNIFICANCE_LEVEL = 0.05
"""Corrected p below which a difference counts as real."""
MIN_ARTICLES = 6
"""With fewer, nothing can be significant and there are no ranks: of 2^n ways to swap two agents
within n articles two give the largest difference, so p is at least 2^(1-n)."""
POWER = 0.8
"""Share of editions in which a real difference should be found."""


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


def estimate_articles_needed(effect_size: float, n_pairs: int) -> int:
    """Return about how many articles a difference of this size needs to be significant among so
    many pairs in four of five editions.

    Of a paired t-test: ((z_a + z_b) / d_z)^2 + z_a^2 / 2 (Guenther 1981), where z_a is the normal
    quantile of the level, divided by the number of pairs and two-sided, and z_b of the power. The
    randomization test has about the same power, and the max-T correction a little more.
    """
    normal = NormalDist()
    level = normal.inv_cdf(1 - SIGNIFICANCE_LEVEL / (2 * n_pairs))
    needed = ((level + normal.inv_cdf(POWER)) / effect_size) ** 2 + level**2 / 2
    return max(MIN_ARTICLES, math.ceil(needed))
