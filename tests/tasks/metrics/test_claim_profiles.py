"""The published scoring per category, with numbers worked by hand from the published code."""

from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.metrics.claim_trees import (
    ClaimScores,
    GradedRow,
    multiply_scores,
    score_classes,
    score_graded_rows,
    score_lists,
)


def values(found: ClaimScores | None) -> tuple[float, ...]:
    assert found
    return astuple(found)


def test_scifacts_counts_a_right_answer_again_but_a_class_once() -> None:
    # Four answers, the first three right, two of them the same class; four classes.
    found = score_classes([{0}, {0}, {1}, set()], 4)
    assert values(found) == pytest.approx((3 / 4, 2 / 4, 0.6))


def test_materials_multiplies_all_three_figures() -> None:
    material, paper = ClaimScores(0.5, 1.0, 2 / 3), ClaimScores(1.0, 0.5, 2 / 3)
    assert values(multiply_scores(material, paper)) == pytest.approx((0.5, 0.5, 4 / 9))
    assert multiply_scores(material, None) is None


def test_lists_of_texts_are_matched_one_to_one() -> None:
    assert values(score_lists(2, 5, 4)) == pytest.approx((2 / 5, 2 / 4, 4 / 9))
    assert score_lists(0, 0, 4) == ClaimScores(0, 0, 0)
    assert score_lists(0, 0, 0) is None


def row(grades: dict[str, int], *more: str, gates_all: bool = False) -> GradedRow:
    return GradedRow(frozenset(grades) | set(more), grades, gates_all)


@pytest.mark.parametrize(
    ("rows", "truths", "main", "ignored", "expected"),
    [
        # A grade from 2 on is right, and every key answered is below the line.
        ([row({"a": 3, "b": 2, "c": 1, "d": 0}, "extra", gates_all=True)], ["abcdef"], "", (),
         (2 / 5, 2 / 6, 4 / 11)),
        # Rows without a partner stay below the line.
        ([row({"a": 3, "b": 3}), row({}, "a", "b")], ["ab", "ab"], "", (), (0.5, 0.5, 0.5)),
        ([row({"a": 3, "n": 3})], ["abn"], "", ("n",), (1, 1 / 2, 2 / 3)),
        # A wrong main claim zeroes its row and no other; that of a dict the whole task.
        ([row({"i": 1, "a": 3}), row({"i": 2, "a": 3})], ["ia", "ia"], "i", (), (0.5, 0.5, 0.5)),
        ([row({"i": 1, "a": 3}, gates_all=True), row({"b": 3})], ["ia", "b"], "i", (), (0, 0, 0)),
    ],
)  # fmt: skip
def test_graded_rows_by_hand(
    rows: list[GradedRow],
    truths: list[str],
    main: str,
    ignored: tuple[str, ...],
    expected: tuple[float, ...],
) -> None:
    found = score_graded_rows(rows, [set(keys) for keys in truths], tuple(main), ignored)
    assert values(found) == pytest.approx(expected)


def test_without_true_keys_there_is_no_figure() -> None:
    assert score_graded_rows([row({}, "a")], [], (), ()) is None
    assert score_graded_rows([row({"a": 3})], [{"a"}], (), ("a",)) is None
    assert score_classes([set()], 0) is None


GRADES = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3))


@given(st.lists(GRADES, max_size=4), st.sets(st.sampled_from("abcd")), st.booleans())
def test_published_figures_lie_between_0_and_1(
    graded: list[dict[str, int]], main: set[str], gates: bool
) -> None:
    rows = [row(grades, gates_all=gates) for grades in graded]
    found = score_graded_rows(rows, [set("abcd") for _ in graded], main, ())
    if found is None:
        assert not graded
    else:
        assert 0 <= found.precision <= 1
        assert 0 <= found.recall <= 1
        assert 0 <= found.f1 <= 1


@given(GRADES, st.integers(0, 3))
def test_a_row_that_answers_nothing_true_never_raises_anything(
    grades: dict[str, int], n: int
) -> None:
    truth = [set("abcd")]
    before = score_graded_rows([row(grades)], truth, (), ())
    after = score_graded_rows([row(grades), *[row({}, "a", "b")] * n], truth, (), ())
    assert before
    assert after
    assert after.precision <= before.precision
    assert after.recall == before.recall
