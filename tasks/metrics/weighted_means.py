"""Weighted means that ignore missing values. Empty input gives null, never 0."""

from collections.abc import Iterable
from math import fsum


def weighted_mean(pairs: Iterable[tuple[float | None, float]]) -> float | None:
    """Return the weighted mean of the values that are not None; summed exactly, so order is
    irrelevant.

    Args:
        pairs: Value and weight; weights are not negative.

    Returns:
        None without values or if all their weights are 0.
    """
    present = [(value, weight) for value, weight in pairs if value is not None]
    total = fsum(weight for _, weight in present)
    return fsum(value * weight for value, weight in present) / total if total else None
