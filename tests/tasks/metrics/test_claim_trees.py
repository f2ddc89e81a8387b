"""Nested claims: figures worked by hand, and what must hold of every tree."""

from collections.abc import Iterator
from dataclasses import astuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from tasks.metrics.claim_trees import (
    ClaimNode,
    ClaimPath,
    ClaimScores,
    match_one_to_one,
    score_claim_trees,
)

LEAF = ClaimNode()


def tree(*children: ClaimNode, weight: float = 1.0) -> ClaimNode:
    return ClaimNode(weight, children)


def test_the_figures_of_a_nested_answer_are_those_worked_by_hand() -> None:
    # Three answers, two true, of which the first has one of its two sub-claims right; the truth
    # has four answers, the first with three sub-claims.
    answered = (tree(LEAF, LEAF), LEAF, LEAF)
    truths = (tree(LEAF, LEAF, LEAF), LEAF, LEAF, LEAF)
    found = score_claim_trees(answered, truths, {(0,): (0,), (0, 1): (0, 2), (2,): (3,)})
    assert found
    assert astuple(found) == pytest.approx(
        ((1 / 2 + 1) / 3, (1 / 3 + 1) / 4, 2 * (1 / 2) * (1 / 3) / (1 / 2 + 1 / 3))
    )


def test_a_wrong_sub_claim_takes_from_its_parent_and_a_wrong_parent_takes_all() -> None:
    truths = (tree(LEAF, LEAF),)
    whole = {(0,): (0,), (0, 0): (0, 0), (0, 1): (0, 1)}
    half = {(0,): (0,), (0, 0): (0, 0)}
    assert score_claim_trees(truths, truths, whole) == ClaimScores(1, 1, 1)
    assert score_claim_trees(truths, truths, half) == ClaimScores(0.5, 0.5, 0.5)
    assert score_claim_trees(truths, truths, {}) == ClaimScores(0, 0, 0)


def test_the_printed_denominator_is_the_number_of_claims_at_every_level() -> None:
    truths = (tree(ClaimNode(2.0), ClaimNode(0.5)), ClaimNode(3.0))
    answered = (tree(LEAF, LEAF, LEAF), LEAF)
    pairs = {(0,): (0,), (0, 1): (0, 0), (1,): (1,)}
    # Below the first claim: precision 2 / 3 of three claims, recall 2 / 2 of two truths.
    printed = score_claim_trees(answered, truths, pairs, denominator="claims")
    assert printed
    assert astuple(printed) == pytest.approx(((2 / 3 + 3) / 2, (1 + 3) / 2, 22 / 11.5))
    # Ours: 2 / (2 + 1 + 1) and 2 / 2.5, then divided by the weights 1 + 3.
    ours = score_claim_trees(answered, truths, pairs)
    assert ours
    assert astuple(ours)[:2] == pytest.approx((3.5 / 4, 3.8 / 4))


def test_a_claim_found_without_what_is_known_of_it_is_precise_but_not_complete() -> None:
    assert score_claim_trees((LEAF,), (tree(LEAF),), {(0,): (0,)}) == ClaimScores(1, 0, 0)


def test_a_true_claim_counts_once() -> None:
    with pytest.raises(ValueError, match="more than one"):
        score_claim_trees((LEAF, LEAF), (LEAF,), {(0,): (0,), (1,): (0,)})


NODES = st.recursive(
    st.builds(ClaimNode, st.sampled_from([0.5, 1.0, 2.0])),
    lambda below: st.builds(
        ClaimNode, st.sampled_from([0.5, 1.0, 2.0]), st.lists(below, max_size=3).map(tuple)
    ),
    max_leaves=8,
)
FORESTS = st.lists(NODES, min_size=1, max_size=4).map(tuple)


@st.composite
def matched(
    draw: st.DrawFn,
) -> tuple[tuple[ClaimNode, ...], tuple[ClaimNode, ...], dict[ClaimPath, ClaimPath]]:
    """Two forests, with a pairing in which a pair lies below a pair."""
    answered, truths = draw(st.tuples(FORESTS, FORESTS))
    pairs: dict[ClaimPath, ClaimPath] = {}

    def pair(
        left: tuple[ClaimNode, ...], right: tuple[ClaimNode, ...], at: ClaimPath, there: ClaimPath
    ) -> None:
        partners = draw(st.permutations(range(len(right))))
        n = draw(st.integers(0, min(len(left), len(right))))
        claims = draw(st.permutations(range(len(left))))
        for claim, truth in zip(claims[:n], partners[:n], strict=True):
            pairs[(*at, claim)] = (*there, truth)
            pair(left[claim].children, right[truth].children, (*at, claim), (*there, truth))

    pair(answered, truths, (), ())
    return answered, truths, pairs


Forest = tuple[ClaimNode, ...]


def figures(case: tuple[Forest, Forest, dict[ClaimPath, ClaimPath]]) -> ClaimScores:
    found = score_claim_trees(*case)
    assert found is not None
    return found


@given(matched())
def test_every_figure_lies_between_0_and_1(
    case: tuple[Forest, Forest, dict[ClaimPath, ClaimPath]],
) -> None:
    found = figures(case)
    assert 0 <= found.precision <= 1
    assert 0 <= found.recall <= 1
    assert min(found.precision, found.recall) - 1e-12 <= found.f1 <= 1


def paths(forest: Forest, at: ClaimPath = ()) -> Iterator[ClaimPath]:
    for index, node in enumerate(forest):
        yield (*at, index)
        yield from paths(node.children, (*at, index))


@given(matched())
def test_where_all_weights_are_1_the_printed_denominator_changes_nothing(
    case: tuple[Forest, Forest, dict[ClaimPath, ClaimPath]],
) -> None:
    def even(forest: Forest) -> Forest:
        return tuple(ClaimNode(1.0, even(node.children)) for node in forest)

    answered, truths, pairs = even(case[0]), even(case[1]), case[2]
    printed = score_claim_trees(answered, truths, pairs, denominator="claims")
    assert printed == score_claim_trees(answered, truths, pairs)


@given(FORESTS)
def test_a_perfect_answer_has_1(truths: Forest) -> None:
    assert score_claim_trees(truths, truths, {p: p for p in paths(truths)}) == ClaimScores(1, 1, 1)


@given(matched(), st.data())
def test_the_order_of_an_answer_changes_nothing(
    case: tuple[Forest, Forest, dict[ClaimPath, ClaimPath]], data: Any
) -> None:
    answered, truths, pairs = case
    order = data.draw(st.permutations(range(len(answered))))
    moved = {(order.index(p[0]), *p[1:]): t for p, t in pairs.items()}
    again = figures((tuple(answered[i] for i in order), truths, moved))
    assert again == figures(case)


@given(matched())
def test_a_wrong_claim_more_never_raises_anything(
    case: tuple[Forest, Forest, dict[ClaimPath, ClaimPath]],
) -> None:
    answered, truths, pairs = case
    before, after = figures(case), figures(((*answered, LEAF), truths, pairs))
    assert after.precision <= before.precision
    assert after.recall == before.recall
    assert after.f1 <= before.f1


@given(matched(), st.data())
def test_a_matched_claim_less_never_raises_recall(
    case: tuple[Forest, Forest, dict[ClaimPath, ClaimPath]], data: Any
) -> None:
    answered, truths, pairs = case
    if not pairs:
        return
    gone = data.draw(st.sampled_from(sorted(pairs)))
    left = {p: t for p, t in pairs.items() if p[: len(gone)] != gone}
    assert figures((answered, truths, left)).recall <= figures(case).recall


EDGES = st.lists(st.lists(st.integers(0, 6), max_size=4, unique=True), max_size=7)


@given(EDGES)
def test_a_matching_is_one_to_one_and_as_large_as_can_be(edges: list[list[int]]) -> None:
    found = match_one_to_one(edges)
    assert len(set(found.values())) == len(found)
    assert all(right in edges[left] for left, right in found.items())
    matrix = np.zeros((max(len(edges), 1), 7), dtype=int)
    for left, rights in enumerate(edges):
        matrix[left, rights] = 1
    largest = maximum_bipartite_matching(csr_array(matrix), perm_type="column")
    assert len(found) == int((largest >= 0).sum())


def test_who_is_served_first_keeps_the_partner_that_several_want() -> None:
    assert match_one_to_one([[0], [0]]) == {0: 0}
    assert match_one_to_one([[0], [0]], order=[1, 0]) == {1: 0}
    assert match_one_to_one([[0, 1], [0]]) == {0: 1, 1: 0}


@given(EDGES.filter(bool), st.data())
def test_a_duplicate_never_makes_a_matching_larger_than_its_truths(
    edges: list[list[int]], data: Any
) -> None:
    twin = data.draw(st.sampled_from(edges))
    assert set(match_one_to_one(edges)) <= set(match_one_to_one([*edges, twin]))
