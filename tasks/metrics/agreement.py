"""Agreement between those who decide the same items: judges, people, figures."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

ItemT = TypeVar("ItemT", bound=Hashable)
LabelT = TypeVar("LabelT", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two agree on the items that both decided."""

    n_items: int
    alike: float | None
    """Share labelled alike, 0-1; None without items."""
    kappa: float | None
    """Cohen's, -1 to 1; None where it is not defined."""


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


def agreement(left: Mapping[ItemT, Hashable], right: Mapping[ItemT, Hashable]) -> Agreement:
    """Two labellings compared on the items that are in both."""
    shared = [item for item in left if item in right]
    ours, theirs = [left[item] for item in shared], [right[item] for item in shared]
    return Agreement(len(shared), accuracy(ours, theirs), cohen_kappa(ours, theirs))


def pairwise(
    raters: Mapping[str, Mapping[ItemT, Hashable]],
) -> list[tuple[str, str, Agreement]]:
    """Each two raters, by name, with their agreement."""
    return [
        (one, other, agreement(raters[one], raters[other]))
        for one, other in combinations(sorted(raters), 2)
    ]


def majority(votes: Iterable[LabelT]) -> LabelT | None:
    """The label given most often; None without votes, or where two are given equally often."""
    ranked = Counter(votes).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def majorities(
    raters: Mapping[str, Mapping[ItemT, LabelT]],
) -> tuple[dict[ItemT, LabelT], set[ItemT]]:
    """What most raters say of each item, and the items on which the votes are tied."""
    votes: dict[ItemT, list[LabelT]] = {}
    for labels in raters.values():
        for item, label in labels.items():
            votes.setdefault(item, []).append(label)
    decided = {item: majority(labels) for item, labels in votes.items()}
    clear = {item: label for item, label in decided.items() if label is not None}
    return clear, decided.keys() - clear.keys()
