"""The published scoring of LiveDRBench's categories, as its code has it.

Missing predictions score 0/0/0 there, and so they do here; where nothing is true, there is no
figure.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from tasks.metrics.claim_trees import Figures, f1

COUNTS_FROM = 2
"""Grades are 0 to 3; from this one on a value counts as right."""


@dataclass(frozen=True, slots=True)
class GradedRow:
    """One row (or the one dict) of an answer."""

    keys: frozenset[str]
    """Of the answered row."""
    grades: Mapping[str, int]
    """Per key of the true row it was matched with; empty where it was matched with none."""
    gates_all: bool
    """Whether it answers a dict: a wrong main claim takes the whole task with it, not its row."""


def class_figures(hits: Sequence[Collection[int]], n_truths: int) -> Figures | None:
    """scifacts: right answers over answers, where a repeated one counts again; recall is the
    share of true classes that any answer states.

    Args:
        hits: per answer the true classes it states.
    """
    if not n_truths:
        return None
    found = {truth for stated in hits for truth in stated}
    precision = sum(bool(stated) for stated in hits) / len(hits) if hits else 0.0
    recall = len(found) / n_truths
    return Figures(precision, recall, f1(precision, recall))


def product(first: Figures | None, second: Figures | None) -> Figures | None:
    """scifacts-materials: every figure is the product of two, F1 too, and so not harmonic."""
    if first is None or second is None:
        return None
    return Figures(
        first.precision * second.precision, first.recall * second.recall, first.f1 * second.f1
    )


def list_figures(n_pairs: int, n_answered: int, n_truths: int) -> Figures | None:
    """prior-art, entities: answers that found a partner, over answers and over truths."""
    if not n_truths:
        return None
    precision = n_pairs / n_answered if n_answered else 0.0
    recall = n_pairs / n_truths
    return Figures(precision, recall, f1(precision, recall))


def graded_figures(
    rows: Sequence[GradedRow],
    true_keys: Sequence[Collection[str]],
    main_claims: Collection[str],
    ignored: Collection[str],
) -> Figures | None:
    """Datasets and flights: right values over the keys answered, and over the true keys.

    A row whose main claim is graded 1 or less counts nothing; a dict whose main claim is, takes
    the whole task with it. Rows without a partner stay below the line of precision.

    Args:
        true_keys: of every true row, matched or not.
        ignored: keys that count neither above nor below the line.
    """
    n_true = sum(len(set(keys) - set(ignored)) for keys in true_keys)
    if not n_true:
        return None
    failed = any(row.gates_all and _main_is_wrong(row, main_claims) for row in rows)
    right = 0
    if not failed:
        for row in rows:
            if not _main_is_wrong(row, main_claims):
                right += sum(
                    grade >= COUNTS_FROM for key, grade in row.grades.items() if key not in ignored
                )
    n_answered = sum(len(row.keys - set(ignored)) for row in rows)
    precision = right / n_answered if n_answered else 0.0
    recall = right / n_true
    return Figures(precision, recall, f1(precision, recall))


def _main_is_wrong(row: GradedRow, main_claims: Collection[str]) -> bool:
    return any(row.grades.get(key, COUNTS_FROM) < COUNTS_FROM for key in main_claims)
