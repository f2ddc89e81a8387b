"""Forced choices between two agents' reports: win rates, and which side a figure prefers."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

Side = Literal["first", "second"]


class WinRate(NamedTuple):
    """How often one agent was preferred."""

    agent: str
    n_choices: int
    """Comparisons that the agent took part in."""
    wins: int
    rate: float
    """0-1."""


def win_rates(choices: Iterable[tuple[str, str]]) -> list[WinRate]:
    """Return the win rate of each agent, best first, from (preferred, other) pairs."""
    wins: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for preferred, other in choices:
        wins[preferred] += 1
        seen.update((preferred, other))
    rates = [WinRate(agent, n, wins[agent], wins[agent] / n) for agent, n in seen.items()]
    return sorted(rates, key=lambda rate: (-rate.rate, rate.agent))


def preferred_side(
    values: Sequence[float | None], better: Literal["higher", "lower"]
) -> Side | None:
    """Return the side with the better of two values; None if they are equal or one is missing."""
    first, second = values
    if first is None or second is None or first == second:
        return None
    return "first" if (first > second) == (better == "higher") else "second"
