"""What a protocol says of items that a judge refuses: the worst and the best label of each step."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Labels = tuple[str, str]
"""The worst and the best label for the report."""
ITEM_POINTS = "points"
"""Stands for the points of the rubric's item."""
RATINGS = "a rating from the worst to the best would say nothing"


@dataclass(frozen=True)
class Bounds:
    """The worst and the best that a judge can say of a protocol's items."""

    steps: Mapping[str, Labels] = field(default_factory=dict)
    items: Mapping[str, Labels] = field(default_factory=dict)
    """By item, where a step's items differ."""
    none: Mapping[str, str] = field(default_factory=dict)
    """The steps, and metrics of other steps, that have no bounds, with the reason."""

    def describe(self) -> str:
        """Say what is worst and best in each step, and what has no bounds, in a sentence each."""
        named = [f"{step}: {worst} to {best}" for step, (worst, best) in self.steps.items()]
        reasons: dict[str, list[str]] = {}
        for name, why in self.none.items():
            reasons.setdefault(why, []).append(name)
        without = [f"{', '.join(names)} (no bounds: {why})" for why, names in reasons.items()]
        return "; ".join([*named, *without])


UNDECLARED = Bounds()
"""Of protocols that other packages bring, unless they have `bounds`."""
