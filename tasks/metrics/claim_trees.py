"""Precision, recall and F1 of nested claims, and the one-to-one matching of claims.

Source: LiveDRBench (Characterizing Deep Research, 2025). The paper prints
Prec(A) = Σ wᵢ s(Aᵢ) Prec(Aᵢ) / Σ 1; s is 0 or 1, and Rec is the same over the truth. Divided by the
number of claims, weights above 1 give more than 1, so this project divides by Σ wᵢ; where all
weights are 1 both are the same. A claim without sub-claims has precision 1. So a wrong sub-claim,
also one below a true claim that has none, lowers its parent's score, and a wrong parent makes all
its sub-claims count nothing.

LiveDRBench's categories are scored as in its published code. As there, missing predictions score
0/0/0. Without true claims there is no score.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Literal

ClaimPath = tuple[int, ...]
"""A claim's position in its tree: the indices from the top level down to it."""
Denominator = Literal["weights", "claims"]
"""What a level's sum is divided by: its claims' weights (ours), or their number (as printed)."""
MIN_RIGHT_GRADE = 2
"""Lowest grade, of 0 to 3, that counts as right."""


@dataclass(frozen=True, slots=True)
class ClaimNode:
    """What scoring needs of a claim."""

    weight: float = 1.0
    """Above 0. A matched answered claim counts with the weight of its truth instead."""
    children: tuple["ClaimNode", ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimScores:
    """Precision, recall and F1, each 0-1; divided by the number of claims they can exceed 1."""

    precision: float
    recall: float
    f1: float


def f1_score(precision: float, recall: float) -> float:
    """Return the harmonic mean, 0-1; 0 where both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def score_claim_trees(
    answered: Sequence[ClaimNode],
    truths: Sequence[ClaimNode],
    matched: Mapping[ClaimPath, ClaimPath],
    denominator: Denominator = "weights",
) -> ClaimScores | None:
    """Score one answer; None without true claims.

    As published, an answer without claims has precision, recall and F1 0.

    Args:
        matched: Path of an answered claim → path of the true claim it states, one to one. The
            parents of a pair are a pair.
        denominator: What each level's sum is divided by.
    """
    if not truths:
        return None
    back = {truth: claim for claim, truth in matched.items()}
    if len(back) != len(matched):
        raise ValueError("a true claim is matched by more than one answered claim")
    precision = _precision(answered, truths, matched, (), (), denominator)
    recall = _recall(truths, answered, back, (), (), denominator)
    return ClaimScores(precision, recall, f1_score(precision, recall))


def _precision(
    answered: Sequence[ClaimNode],
    truths: Sequence[ClaimNode],
    matched: Mapping[ClaimPath, ClaimPath],
    at: ClaimPath,
    truth_at: ClaimPath,
    denominator: Denominator,
) -> float:
    """Return the precision of one level. Sub-claims of a true claim that has none are wrong."""
    if not answered:
        return 1.0 if at else 0.0
    weights, terms = [], []
    for index, claim in enumerate(answered):
        truth = matched.get((*at, index))
        if truth is None or truth[:-1] != truth_at:
            weights.append(claim.weight)
            continue
        true_claim = truths[truth[-1]]
        below = _precision(
            claim.children, true_claim.children, matched, (*at, index), truth, denominator
        )
        weights.append(true_claim.weight)
        terms.append(true_claim.weight * below)
    return fsum(terms) / _divisor(weights, denominator)


def _recall(
    truths: Sequence[ClaimNode],
    answered: Sequence[ClaimNode],
    found: Mapping[ClaimPath, ClaimPath],
    truth_at: ClaimPath,
    at: ClaimPath,
    denominator: Denominator,
) -> float:
    """Return the recall of one level; a claim found without any of its sub-claims has recall 0."""
    if not truths:
        return 1.0
    terms = []
    for index, truth in enumerate(truths):
        claim = found.get((*truth_at, index))
        if claim is None or claim[:-1] != at:
            continue
        children = answered[claim[-1]].children
        below = _recall(truth.children, children, found, (*truth_at, index), claim, denominator)
        terms.append(truth.weight * below)
    return fsum(terms) / _divisor([truth.weight for truth in truths], denominator)


def _divisor(weights: Sequence[float], denominator: Denominator) -> float:
    return fsum(weights) if denominator == "weights" else len(weights)


def match_one_to_one(
    edges: Sequence[Sequence[int]], order: Sequence[int] | None = None
) -> dict[int, int]:
    """Return a maximum matching, left index → right index.

    Left indices earlier in `order` are matched first; of several free partners the first one is
    taken. Source: augmenting paths (Kuhn 1955), without recursion because the edges come from
    untrusted input.

    Args:
        edges: The right indices that each left index may be paired with, best first.
        order: Left indices in the order of matching; ascending by default.
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


@dataclass(frozen=True, slots=True)
class GradedRow:
    """One row (or the only dict) of an answer."""

    keys: frozenset[str]
    """Keys of the answered row."""
    grades: Mapping[str, int]
    """Grade per key of the matched true row; empty without a match."""
    gates_all: bool
    """Whether the row is a dict: there a wrong main claim fails the whole task, not one row."""


def score_classes(hits: Sequence[Collection[int]], n_truths: int) -> ClaimScores | None:
    """Score scifacts: precision is right answers over answers, repeated ones counted again; recall
    is the share of true classes that any answer states.

    Args:
        hits: The true classes that each answer states.
    """
    if not n_truths:
        return None
    found = {truth for classes in hits for truth in classes}
    precision = sum(bool(classes) for classes in hits) / len(hits) if hits else 0.0
    recall = len(found) / n_truths
    return ClaimScores(precision, recall, f1_score(precision, recall))


def multiply_scores(first: ClaimScores | None, second: ClaimScores | None) -> ClaimScores | None:
    """Score scifacts-materials: precision, recall and F1 are each the product of two scores, so
    this F1 is no harmonic mean."""
    if first is None or second is None:
        return None
    return ClaimScores(
        first.precision * second.precision, first.recall * second.recall, first.f1 * second.f1
    )


def score_lists(n_pairs: int, n_answered: int, n_truths: int) -> ClaimScores | None:
    """Score prior-art and entities: matched answers over answers and over truths."""
    if not n_truths:
        return None
    precision = n_pairs / n_answered if n_answered else 0.0
    recall = n_pairs / n_truths
    return ClaimScores(precision, recall, f1_score(precision, recall))


def score_graded_rows(
    rows: Sequence[GradedRow],
    true_keys: Sequence[Collection[str]],
    main_claims: Collection[str],
    ignored: Collection[str],
) -> ClaimScores | None:
    """Score datasets and flights: right values over answered keys, and over true keys.

    A row whose main claim is graded 1 or less counts nothing; a dict with such a main claim fails
    the whole task. Unmatched rows count in the denominator of precision.

    Args:
        true_keys: The keys of every true row, matched or not.
        ignored: Keys that count in neither numerator nor denominator.
    """
    n_true = sum(len(set(keys) - set(ignored)) for keys in true_keys)
    if not n_true:
        return None
    failed = any(row.gates_all and _has_wrong_main_claim(row, main_claims) for row in rows)
    right = 0
    if not failed:
        for row in rows:
            if not _has_wrong_main_claim(row, main_claims):
                right += sum(
                    grade >= MIN_RIGHT_GRADE
                    for key, grade in row.grades.items()
                    if key not in ignored
                )
    n_answered = sum(len(row.keys - set(ignored)) for row in rows)
    return score_lists(right, n_answered, n_true)


def _has_wrong_main_claim(row: GradedRow, main_claims: Collection[str]) -> bool:
    return any(row.grades.get(key, MIN_RIGHT_GRADE) < MIN_RIGHT_GRADE for key in main_claims)
