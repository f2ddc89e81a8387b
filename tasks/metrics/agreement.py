"""Agreement between two judges on the same items."""

from collections import Counter
from collections.abc import Hashable, Sequence


def accuracy(left: Sequence[Hashable], right: Sequence[Hashable]) -> float | None:
    """Share of items labelled alike, 0-1; None without items.

    Raises:
        ValueError: the sequences differ in length.
    """
    same = sum(a == b for a, b in zip(left, right, strict=True))
    return same / len(left) if left else None


def cohen_kappa(left: Sequence[Hashable], right: Sequence[Hashable]) -> float | None:
    """Agreement beyond chance, -1 to 1; 0 is chance. Source: Cohen 1960.

    None where it is not defined: without items, or where both give one and the same label.

    Raises:
        ValueError: the sequences differ in length.
    """
    observed = accuracy(left, right)
    if observed is None:
        return None
    n = len(left)
    ours, theirs = Counter(left), Counter(right)
    both = sum(count * theirs[label] for label, count in ours.items())
    if both == n * n:
        return None
    chance = both / (n * n)
    return (observed - chance) / (1 - chance)
