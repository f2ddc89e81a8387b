"""Rank ranges: the places that an agent may have, instead of the one that chance gave it."""

from collections.abc import Iterable, Sequence

SURE = 0.05
"""Corrected p below which a difference counts as real."""


def rank_ranges(
    agents: Sequence[str], better: Iterable[tuple[str, str]]
) -> dict[str, tuple[int, int]]:
    """(from, to) of each agent, 1 is best.

    From: one more than the agents that are significantly better. To: all agents but those that are
    significantly worse. So with N agents, (1, N) says nothing, and two ranges lie apart only where
    the one is significantly better than the other, or than others that are better than the other.
    Idea: Mogstad, Romano, Shaikh & Wilhelm 2024, "Inference for Ranks".

    Args:
        agents: those with a figure.
        better: (agent, other) where the first is significantly better; each two at most once.
    """
    pairs = {(one, other) for one, other in better if one in agents and other in agents}
    return {
        agent: (
            1 + sum(other == agent for _, other in pairs),
            len(agents) - sum(one == agent for one, _ in pairs),
        )
        for agent in agents
    }


def places(values: Sequence[float], *, higher_is_better: bool) -> list[int]:
    """The bare place of each by its value, 1 is best; equals have one place."""
    order = sorted(values, reverse=higher_is_better)
    first: dict[float, int] = {}
    for place, value in enumerate(order, start=1):
        first.setdefault(value, place)
    return [first[value] for value in values]
