"""What forbids a positive verdict although the words agree: other numbers, a denial."""

import pytest

from tasks.judges.offline.vetoes import denies, exchanges_numbers

LIT = "The tower was lit by gas in 1882"


@pytest.mark.parametrize(
    "sentence",
    [
        "The tower was not lit by gas in 1882.",
        "The tower wasn't lit by gas in 1882.",
        "The tower was never lit by gas, in 1882 or later.",
        "In fact no tower was lit by gas in 1882.",
        "The tower, a landmark, was neither lit by gas in 1882 nor by oil.",
    ],
)
def test_a_denied_sentence_denies(sentence: str) -> None:
    assert denies(LIT, sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        LIT,
        "The tower was not only lit by gas in 1882 but also heated.",
        "The tower was not, as some say, not lit by gas in 1882.",
        "The tower was no doubt lit by gas in 1882.",
        "The tower was not lit by gas until 1882.",
        "Tower No. 1 was lit by gas in 1882.",
        "Tower no 1 was lit by gas in 1882.",
        "The tower was lit by gas in 1882, not by oil.",
        "As no one paid and the works did not go well, the tower was lit by gas in 1882.",
        "The ship did not sail.",
    ],
)
def test_an_affirmed_sentence_does_not_deny(sentence: str) -> None:
    assert not denies(LIT, sentence)


def test_a_claim_may_be_what_denies() -> None:
    assert denies("The tower was not lit by gas in 1882", f"{LIT}, when the war ended.")


def test_a_claim_of_a_negation_alone_is_denied_by_nothing() -> None:
    assert not denies("None", "None")
    assert not denies("Not", LIT)


def test_neither_nor_denies_as_not_does() -> None:
    said = "The tower was neither lit by gas nor heated in 1882."
    assert not denies("The tower was not lit by gas in 1882", said)
    assert not denies("The tower was neither lit by gas nor heated in 1882", said)
    assert denies("The tower was lit by gas and heated in 1882", said)


def test_what_a_title_or_a_quotation_denies_is_not_denied() -> None:
    claim = "Kumar said the song is the first of the album"
    assert not denies(claim, 'Kumar said "I\'m Not Crying" the song is the first of the album.')
    assert not denies("He said: 'We don't know the way'", 'He said: "We don\'t know the way."')


@pytest.mark.parametrize(
    ("claim", "sentence", "exchanged"),
    [
        (LIT, "The tower was lit by gas in 1885.", True),
        (LIT, "The tower was lit by gas.", False),
        (LIT, "The tower was lit by gas in 1882 and by 3 lamps.", False),
        (LIT, "Ninety ships sank in 1885.", False),
        ("The tower was lit by five lamps in 1882", "The tower was lit by 5 lamps then.", False),
        ("The tower was lit by 5 lamps", "The tower was lit by five lamps.", False),
        ("The tower was lit", "The tower was lit in 1882.", False),
    ],
)
def test_another_number_in_the_place_of_the_claims_is_an_exchange(
    claim: str, sentence: str, exchanged: bool
) -> None:
    assert exchanges_numbers(claim, sentence) is exchanged
