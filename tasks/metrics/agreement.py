"""Agreement between those who decide the same items: judges, people, figures."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeVar

import numpy as np

from tasks.metrics.resampling import Array, Interval, intervals

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
    n_clusters: int | None = None
    """Of the items; None where nobody said what they are."""
    alike_interval: Interval | None = None
    """95 %, by drawing clusters again; None where none was asked for."""
    kappa_interval: Interval | None = None


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


def agreement(
    left: Mapping[ItemT, str],
    right: Mapping[ItemT, str],
    cluster_of: Callable[[ItemT], str] | None = None,
    unit: str = "assignments",
) -> Agreement:
    """Two labellings compared on the items that are in both.

    cluster_of: what an item belongs to; items of one cluster are no evidence of their own, so
    intervals are made by drawing clusters again. No intervals if not given.
    unit: what the clusters are called.
    """
    shared = [item for item in left if item in right]
    ours, theirs = [left[item] for item in shared], [right[item] for item in shared]
    found = Agreement(len(shared), accuracy(ours, theirs), cohen_kappa(ours, theirs))
    if cluster_of is None or not shared:
        return found
    tables = _confusions(ours, theirs, [cluster_of(item) for item in shared])
    alike, kappa = intervals(lambda counts: _figures(counts, tables), len(tables), unit)
    return replace(found, n_clusters=len(tables), alike_interval=alike, kappa_interval=kappa)


def _confusions(ours: Sequence[str], theirs: Sequence[str], clusters: Sequence[str]) -> Array:
    """Per cluster how often the one says this and the other that."""
    labels, names = sorted({*ours, *theirs}), sorted(set(clusters))
    place = {label: n for n, label in enumerate(labels)}
    number = {name: n for n, name in enumerate(names)}
    tables = np.zeros((len(names), len(labels), len(labels)))
    for one, other, cluster in zip(ours, theirs, clusters, strict=True):
        tables[number[cluster], place[one], place[other]] += 1
    return tables


def _figures(counts: Array, tables: Array) -> Array:
    """`accuracy` and `cohen_kappa` of each draw, NaN where kappa is not defined."""
    summed = np.tensordot(counts, tables, axes=1)
    n = summed.sum(axis=(1, 2))
    alike = np.trace(summed, axis1=1, axis2=2) / n
    chance = (summed.sum(axis=1) * summed.sum(axis=2)).sum(axis=1) / n**2
    defined = chance < 1
    kappa = np.full_like(alike, np.nan)
    np.divide(alike - chance, 1 - chance, out=kappa, where=defined)
    return np.stack([alike, kappa])


def pairwise(
    raters: Mapping[str, Mapping[ItemT, str]],
    cluster_of: Callable[[ItemT], str] | None = None,
) -> list[tuple[str, str, Agreement]]:
    """Each two raters, by name, with their agreement; with intervals if it is said what the items
    belong to."""
    return [
        (one, other, agreement(raters[one], raters[other], cluster_of))
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
