"""Agreement between raters of the same items (judges, people, figures), and forced choices between
two agents' reports: win rates, and which side a figure prefers."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, NamedTuple, TypeVar

import numpy as np
import polars as pl

from tasks.metrics.resampling import Array, Interval, bootstrap_intervals, draw_clusters

ItemT = TypeVar("ItemT", bound=Hashable)
LabelT = TypeVar("LabelT", bound=Hashable)
FIGURES = {
    "n_items": pl.Int64, "n_assignments": pl.Int64,
    "alike": pl.Float64, "alike_low": pl.Float64, "alike_high": pl.Float64,
    "kappa": pl.Float64, "kappa_low": pl.Float64, "kappa_high": pl.Float64,
}  # fmt: skip
"""The columns of `LabelAgreement.as_row`: shares and kappa with the ends of their 95 % intervals
from resampling assignments, because items of one assignment are not independent. Null with fewer
than five assignments, or if every resample gives the same figure."""
ALL_STEPS = "all"
"""The name of all steps of a protocol together."""
Side = Literal["first", "second"]


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """How far two raters agree on the items that both decided."""

    n_items: int
    alike: float | None
    """Share labelled alike, 0-1; None without items."""
    kappa: float | None
    """Cohen's kappa, -1 to 1; None where it is not defined."""
    n_clusters: int | None = None
    """Clusters of the items; None without a clustering."""
    alike_interval: Interval | None = None
    """95 % interval, by resampling clusters; None without a clustering."""
    kappa_interval: Interval | None = None

    def as_row(self) -> dict[str, float | int | None]:
        """Return the columns of FIGURES; the clusters are assignments."""
        alike, kappa = self.alike_interval, self.kappa_interval
        return {
            "n_items": self.n_items,
            "n_assignments": self.n_clusters or 0,
            "alike": self.alike,
            "alike_low": alike.low if alike else None,
            "alike_high": alike.high if alike else None,
            "kappa": self.kappa,
            "kappa_low": kappa.low if kappa else None,
            "kappa_high": kappa.high if kappa else None,
        }


def accuracy(left: Sequence[Hashable], right: Sequence[Hashable]) -> float | None:
    """Return the share of items labelled alike, 0-1; None without items.

    Raises:
        ValueError: the sequences differ in length.
    """
    same = sum(a == b for a, b in zip(left, right, strict=True))
    return same / len(left) if left else None


def cohen_kappa(left: Sequence[Hashable], right: Sequence[Hashable]) -> float | None:
    """Return the agreement beyond chance, -1 to 1; 0 is chance. Source: Cohen 1960.

    None where it is not defined: without items, or where both give every item the same label.

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


def measure_agreement(
    left: Mapping[ItemT, str],
    right: Mapping[ItemT, str],
    cluster_of: Callable[[ItemT], str] | None = None,
) -> LabelAgreement:
    """Compare two labellings on the items that both contain.

    Args:
        cluster_of: Returns an item's cluster. Items of one cluster are not independent, so
            intervals resample whole clusters. Without it there are no intervals.
    """
    shared = [item for item in left if item in right]
    ours, theirs = [left[item] for item in shared], [right[item] for item in shared]
    found = LabelAgreement(len(shared), accuracy(ours, theirs), cohen_kappa(ours, theirs))
    if cluster_of is None or not shared:
        return found
    tables = _build_confusion_tables(ours, theirs, [cluster_of(item) for item in shared])
    n, n_labels, _ = tables.shape
    alike, kappa = bootstrap_intervals(
        tables.reshape(n, -1),
        lambda sums: _compute_statistics(sums.reshape(-1, n_labels, n_labels)),
        draw_clusters(n),
        unit="assignments",
    )
    return replace(found, n_clusters=n, alike_interval=alike, kappa_interval=kappa)


def _build_confusion_tables(
    ours: Sequence[str], theirs: Sequence[str], clusters: Sequence[str]
) -> Array:
    """Return a confusion table for each cluster."""
    labels, names = sorted({*ours, *theirs}), sorted(set(clusters))
    place = {label: n for n, label in enumerate(labels)}
    number = {name: n for n, name in enumerate(names)}
    tables = np.zeros((len(names), len(labels), len(labels)))
    for one, other, cluster in zip(ours, theirs, clusters, strict=True):
        tables[number[cluster], place[one], place[other]] += 1
    return tables


def _compute_statistics(summed: Array) -> Array:
    """Return `accuracy` and `cohen_kappa` of each confusion table, NaN where kappa is not
    defined."""
    n = summed.sum(axis=(1, 2))
    alike = np.trace(summed, axis1=1, axis2=2) / n
    chance = (summed.sum(axis=1) * summed.sum(axis=2)).sum(axis=1) / n**2
    defined = chance < 1
    kappa = np.full_like(alike, np.nan)
    np.divide(alike - chance, 1 - chance, out=kappa, where=defined)
    return np.stack([alike, kappa])


def measure_pairwise(
    raters: Mapping[str, Mapping[ItemT, str]],
    cluster_of: Callable[[ItemT], str] | None = None,
) -> list[tuple[str, str, LabelAgreement]]:
    """Return every pair of raters, by name, with their agreement; with intervals if `cluster_of`
    is given."""
    return [
        (one, other, measure_agreement(raters[one], raters[other], cluster_of))
        for one, other in combinations(sorted(raters), 2)
    ]


def majority_label(votes: Iterable[LabelT]) -> LabelT | None:
    """Return the most frequent label; None without votes or on a tie."""
    ranked = Counter(votes).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def majority_labels(
    raters: Mapping[str, Mapping[ItemT, LabelT]],
) -> tuple[dict[ItemT, LabelT], set[ItemT]]:
    """Return each item's majority label, and the items on which the votes are tied."""
    votes: dict[ItemT, list[LabelT]] = {}
    for labels in raters.values():
        for item, label in labels.items():
            votes.setdefault(item, []).append(label)
    decided = {item: majority_label(labels) for item, labels in votes.items()}
    clear = {item: label for item, label in decided.items() if label is not None}
    return clear, decided.keys() - clear.keys()


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
