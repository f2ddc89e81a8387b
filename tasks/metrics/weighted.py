"""Weighted means that leave out what is not there. Empty input is null, never 0."""

from collections.abc import Iterable
from math import fsum


def weighted_mean(pairs: Iterable[tuple[float | None, float]]) -> float | None:
    """Mean of the values that are there, each by its weight; summed exactly, so that order cannot
    change it.

    pairs: value and weight; weights are not negative.

    Returns:
        None without values, or where all their weights are 0.
    """
    present = [(value, weight) for value, weight in pairs if value is not None]
    total = fsum(weight for _, weight in present)
    return fsum(value * weight for value, weight in present) / total if total else None
