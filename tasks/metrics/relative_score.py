"""A report's score relative to a reference, by the same weighted criteria. Source: RACE."""

from collections.abc import Mapping, Sequence

from tasks.base import Frozen
from tasks.metrics.ratios import weighted_mean


class ScoredPair(Frozen):
    """The scores of two articles by one criterion, 0 or more."""

    dimension: str
    weight: float
    """The criterion's weight within its dimension."""
    report: float
    reference: float


def relative_score(
    pairs: Sequence[ScoredPair], dimension_weights: Mapping[str, float]
) -> float | None:
    """Return T / (T + R), 0-1: the report's total as a share of both totals. 0.5 means as good as
    the reference.

    A total is the weighted mean of the dimensions that have criteria, a dimension the weighted mean
    of its criteria. As published, a dimension without a weight does not count.

    Returns:
        None without pairs or if both totals are 0.
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
