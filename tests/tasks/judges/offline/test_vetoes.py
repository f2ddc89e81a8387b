"""What forbids a positive verdict although the words agree: other numbers, a denial."""

import pytest

from tasks.judges.offline.vetoes import denies, exchanges_numbers

LIT = "The tower was lit by gas in 1882"


NOT_LIT = "The tower was not lit by gas in 1882"
NEITHER = "The tower was neither lit by gas nor heated in 1882"
SUNG = "Kumar said the song is the first of the album"


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        (LIT, "The tower was not lit by gas in 1882."),
        (LIT, "The tower wasn't lit by gas in 1882."),
        (LIT, "The tower was never lit by gas, in 1882 or later."),
        (LIT, "In fact no tower was lit by gas in 1882."),
        (LIT, "The tower, a landmark, was neither lit by gas in 1882 nor by oil."),
        (NOT_LIT, f"{LIT}, when the war ended."),
        ("The tower was lit by gas and heated in 1882", f"{NEITHER}."),
    ],
)
def test_a_denied_sentence_denies(claim: str, sentence: str) -> None:
    assert denies(claim, sentence)


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        (LIT, LIT),
        (LIT, "The tower was not only lit by gas in 1882 but also heated."),
        (LIT, "The tower was not, as some say, not lit by gas in 1882."),
        (LIT, "The tower was no doubt lit by gas in 1882."),
        (LIT, "The tower was not lit by gas until 1882."),
        (LIT, "Tower No. 1 was lit by gas in 1882."),
        (LIT, "Tower no 1 was lit by gas in 1882."),
        (LIT, "The tower was lit by gas in 1882, not by oil."),
        (LIT, "As no one paid and the works did not go well, the tower was lit by gas in 1882."),
        (LIT, "The ship did not sail."),
        # A claim of a negation alone is denied by nothing, and neither–nor denies as not does.
        ("None", "None"),
        ("Not", LIT),
        (NOT_LIT, f"{NEITHER}."),
        (NEITHER, f"{NEITHER}."),
        # What a title or a quotation denies is not denied.
        (SUNG, 'Kumar said "I\'m Not Crying" the song is the first of the album.'),
        ("He said: 'We don't know the way'", 'He said: "We don\'t know the way."'),
    ],
)
def test_an_affirmed_sentence_does_not_deny(claim: str, sentence: str) -> None:
    assert not denies(claim, sentence)


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
