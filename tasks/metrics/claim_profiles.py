"""The scoring of LiveDRBench's categories, as in its published code.

As there, missing predictions score 0/0/0. Without true claims there is no score.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from tasks.metrics.claim_trees import ClaimScores, f1_score

MIN_RIGHT_GRADE = 2
"""Lowest grade, of 0 to 3, that counts as right."""


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
