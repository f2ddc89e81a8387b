"""Precision, recall and F1 of nested claims, and the matching of claims one to one.

Source: LiveDRBench (Characterizing Deep Research, 2025): Prec(A) = Σ wᵢ s(Aᵢ) Prec(Aᵢ) / Σ wᵢ,
Rec the same over the truth; s is 0 or 1. A claim's own precision is 1 where it has nothing
below it, so a wrong sub-claim takes from its parent and a wrong parent from all below it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

Path = tuple[int, ...]
"""Where a claim stands: its index, then those of the sub-claims down to it."""


@dataclass(frozen=True, slots=True)
class Node:
    """A claim as far as scoring looks at it."""

    weight: float = 1.0
    """Above 0. Of an answered claim that is matched, the truth's counts instead."""
    children: tuple["Node", ...] = ()


@dataclass(frozen=True, slots=True)
class Figures:
    """Precision, recall and F1, each 0-1."""

    precision: float
    recall: float
    f1: float


def f1(precision: float, recall: float) -> float:
    """Harmonic mean, 0-1; 0 where both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def tree_figures(
    answered: Sequence[Node], truths: Sequence[Node], matched: Mapping[Path, Path]
) -> Figures | None:
    """The figures of one answer; None where nothing is known to be true.

    An answer without claims has precision, recall and F1 0, as published.

    Args:
        matched: paths of answered claims → of the true claims they state, one to one; a pair
            lies below a pair.
    """
    if not truths:
        return None
    back = {truth: claim for claim, truth in matched.items()}
    if len(back) != len(matched):
        raise ValueError("a true claim is matched by more than one answered claim")
    precision = _precision(answered, truths, matched, (), ())
    recall = _recall(truths, answered, back, (), ())
    return Figures(precision, recall, f1(precision, recall))


def _precision(
    answered: Sequence[Node],
    truths: Sequence[Node],
    matched: Mapping[Path, Path],
    at: Path,
    truth_at: Path,
) -> float:
    """Of one level. Where nothing is known of a true claim, what is said of it is not counted:
    it has no truth to be measured against."""
    if not answered or not truths:
        return 1.0 if at else 0.0
    weights, terms = [], []
    for index, claim in enumerate(answered):
        truth = matched.get((*at, index))
        if truth is None or truth[:-1] != truth_at:
            weights.append(claim.weight)
            continue
        stated = truths[truth[-1]]
        below = _precision(claim.children, stated.children, matched, (*at, index), truth)
        weights.append(stated.weight)
        terms.append(stated.weight * below)
    return fsum(terms) / fsum(weights)


def _recall(
    truths: Sequence[Node],
    answered: Sequence[Node],
    found: Mapping[Path, Path],
    truth_at: Path,
    at: Path,
) -> float:
    """Of one level; a claim that is found without what is known of it has recall 0 below it."""
    if not truths:
        return 1.0
    terms = []
    for index, truth in enumerate(truths):
        claim = found.get((*truth_at, index))
        if claim is None or claim[:-1] != at:
            continue
        children = answered[claim[-1]].children
        terms.append(
            truth.weight * _recall(truth.children, children, found, (*truth_at, index), claim)
        )
    return fsum(terms) / fsum(truth.weight for truth in truths)


def one_to_one(
    edges: Sequence[Sequence[int]], order: Sequence[int] | None = None
) -> dict[int, int]:
    """A largest matching in which nobody has two partners: left index → right index.

    Whoever comes earlier in `order` keeps a partner if anybody does; of several partners that
    are free, the one named first is taken. Source: augmenting paths (Kuhn 1955), without
    recursion, because the edges come from foreign input.

    Args:
        edges: per left index the right ones it may be paired with, the best first.
        order: left indices in the order in which they are served; as they stand if not given.
    """
    of_right: dict[int, int] = {}
    for start in order if order is not None else range(len(edges)):
        came_from: dict[int, int] = {}  # right → the left that reached it
        waiting = [start]
        free = None
        while waiting and free is None:
            left = waiting.pop(0)
            for right in edges[left]:
                if right in came_from:
                    continue
                came_from[right] = left
                if right not in of_right:
                    free = right
                    break
                waiting.append(of_right[right])
        while free is not None:
            left = came_from[free]
            before = next((r for r, owner in of_right.items() if owner == left), None)
            of_right[free] = left
            free = before if left != start else None
    return {left: right for right, left in sorted(of_right.items(), key=lambda pair: pair[1])}
