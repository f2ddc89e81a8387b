"""Keywords are counted as a reader would, and drift follows the paper's formulas."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.metrics.integrated_score import (
    Normalisation,
    RatedKeyword,
    count_substrings,
    count_whole_words,
    normalise_text,
    semantic_drift,
    weighted_presence,
)

RATED = st.lists(
    st.builds(RatedKeyword, st.integers(0, 50), st.integers(1, 5)), min_size=1, max_size=8
)  # fmt: skip
EPSILON = st.floats(0.5, 20)
BY = st.sampled_from(("ratio", "linear"))


@pytest.mark.parametrize(
    ("keyword", "text", "count"),
    [
        ("vet", "The Vet said: a vet's veto and other vets.", 2),
        ("0-RTT", "0-RTT, (0\u2011rtt) and 10-RTT; 0-RTTs", 2),
        ("TLS 1.3", "TLS\u00a01.3 is not TLS\n1.3.1, nor TLS 1.35.", 2),
        ("HTTP/2", "HTTP/2 and HTTP/20", 1),
        ("C++", "C++ and c++17", 2),
        ("naïve", "Nai\u0308ve, naïve and naive", 2),
        ("Straße", "STRASSE", 1),
        ("deworming", "_deworming_ **Deworming** de\u00adworming", 3),
        ("don't", "Don’t", 1),
        ("量子", "量子計算と量子", 2),
        ("NewReno", "newreno NewReno, NEWRENO.", 3),
        ("", "anything", 0),
        ("\u200b", "anything", 0),
        (".", "a.b", 1),
        ("[a-z]", "a [a-z] b", 1),
    ],
)
def test_a_keyword_is_found_as_words_of_its_own(keyword: str, text: str, count: int) -> None:
    assert count_whole_words(keyword, normalise_text(text)) == count


def test_the_notebook_finds_keywords_inside_of_other_words() -> None:
    text = "The Vet said: a vet's veto and other vets."
    assert count_substrings("vet", text) == 4
    assert count_whole_words("vet", normalise_text(text)) == 2
    assert count_substrings("", text) == 0


def there(rated: Sequence[RatedKeyword], epsilon: float, by: Normalisation) -> float:
    value = weighted_presence(rated, epsilon, by)
    assert value is not None
    return value


@settings(max_examples=50)
@given(RATED, EPSILON, BY)
def test_presence_is_a_share_whatever_the_order_of_the_keywords(
    rated: list[RatedKeyword], epsilon: float, by: Normalisation
) -> None:
    assert 0 <= there(rated, epsilon, by) <= 1
    assert there(sorted(rated, reverse=True), epsilon, by) == there(rated, epsilon, by)


@settings(max_examples=50)
@given(RATED, EPSILON, BY, st.data())
def test_more_of_a_keyword_and_a_higher_relevance_never_lower_its_presence(
    rated: list[RatedKeyword], epsilon: float, by: Normalisation, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(rated) - 1))
    one = rated[place]
    for more in (
        one._replace(frequency=one.frequency + 1),
        one._replace(relevance=min(one.relevance + 1, 5)),
    ):
        others = [*rated[:place], more, *rated[place + 1 :]]
        assert there(others, epsilon, by) >= there(rated, epsilon, by)
    assert there(rated, epsilon + 1, by) <= there(rated, epsilon, by)


@settings(max_examples=50)
@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_drift_lies_between_its_two_parts(focus: float, deviation: float, weight: float) -> None:
    low, high = sorted((focus, deviation))
    assert low - 1e-9 <= semantic_drift(focus, deviation, weight) <= high + 1e-9


@settings(max_examples=50)
@given(st.text(max_size=60), st.text(max_size=300))
def test_counting_never_raises_and_finds_no_more_than_there_is(keyword: str, text: str) -> None:
    found = count_whole_words(keyword, normalise_text(text))
    assert 0 <= found <= len(normalise_text(text))
    assert count_substrings(keyword, text) >= 0
