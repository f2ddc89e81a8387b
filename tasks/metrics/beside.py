"""A report beside a reference, both scored by the same weighted criteria. Source: RACE."""

from collections.abc import Mapping, Sequence

from tasks.base import Frozen
from tasks.metrics.weighted import weighted_mean


class ScoredPair(Frozen):
    """What two articles got by one criterion, 0 or more."""

    dimension: str
    weight: float
    """Of the criterion, within its dimension."""
    report: float
    reference: float


def share_beside(
    pairs: Sequence[ScoredPair], dimension_weights: Mapping[str, float]
) -> float | None:
    """T / (T + R), 0-1: the report's total as a share of both totals. 0.5 is as good as the
    reference.

    A total is the mean by weight of the dimensions that have criteria, a dimension that of its
    criteria. A dimension without a weight counts nothing, as published.

    Returns:
        None without pairs, or where both totals are 0.
    """
    report, reference = (
        weighted_mean(
            (
                weighted_mean((getattr(p, side), p.weight) for p in pairs if p.dimension == name),
                weight,
            )
            for name, weight in sorted(dimension_weights.items())
        )
        for side in ("report", "reference")
    )
    if report is None or reference is None:
        return None
    return report / (report + reference) if report + reference else None
