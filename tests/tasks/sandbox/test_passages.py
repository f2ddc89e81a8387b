"""Passages: all of the text, in order, in pieces that are much alike."""

from hypothesis import given
from hypothesis import strategies as st

from tasks.sandbox.page import split_passages


@given(st.text(max_size=3000), st.integers(20, 60))
def test_together_they_are_the_text_and_none_is_longer_than_it_may_be(text: str, n: int) -> None:
    found = list(split_passages(text, n))
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(one and one == " ".join(one.split()) for one in found)
    assert all(len(one.split()) <= n for one in found)


def test_a_passage_ends_with_a_sentence_where_one_ends_nearby() -> None:
    sentence = "one two three four five six seven."
    found = list(split_passages(" ".join([sentence] * 12), 30))
    assert all(one.endswith("seven.") for one in found)
    assert len(found) == 3


def test_what_is_left_over_is_no_passage_of_two_words() -> None:
    assert [len(one.split()) for one in split_passages("word " * 202, 200)] == [101, 101]


def test_a_text_without_spaces_has_passages_too() -> None:
    found = list(split_passages("x" * 100_000, 100))
    assert len(found) == 17
    assert max(map(len, found)) <= 6000
