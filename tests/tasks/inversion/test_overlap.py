"""Runs of words that two texts share: against a plain count."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.inversion.checks import longest_common_run, ngrams, shared_share

WORDS = st.lists(st.sampled_from("abc"), max_size=12)


def test_the_share_is_that_of_the_question_s_runs() -> None:
    assert shared_share(["a", "b", "c", "d"], ["x", "b", "c", "d", "y"], 2) == pytest.approx(2 / 3)


def test_a_text_shorter_than_a_run_has_no_share() -> None:
    assert shared_share(["a"], ["a"], 2) is None


def contains(text: list[str], run: list[str]) -> bool:
    return any(text[i : i + len(run)] == run for i in range(len(text) - len(run) + 1))


@given(WORDS, WORDS)
def test_the_longest_run_is_that_of_a_plain_search(one: list[str], other: list[str]) -> None:
    plain = max(
        (
            end - start
            for start in range(len(one))
            for end in range(start + 1, len(one) + 1)
            if contains(other, one[start:end])
        ),
        default=0,
    )
    assert longest_common_run(one, other) == longest_common_run(other, one) == plain


@given(WORDS, WORDS, st.integers(1, 4))
def test_a_share_is_between_none_and_all(one: list[str], other: list[str], n: int) -> None:
    share = shared_share(one, other, n)
    if share is None:
        assert len(one) < n
    else:
        assert 0 <= share <= 1
        assert (share > 0) == (longest_common_run(one, other) >= n)
    assert shared_share(one, one, n) in (None, 1.0)
    assert len(ngrams(one, n)) == max(0, len(one) - n + 1)
