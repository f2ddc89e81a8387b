"""Text as the judge reads it: terms, numbers, sentences, and no way to make it hang."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.judges.text import (
    MAX_SENTENCE_CHARS,
    extract_entities,
    extract_numbers,
    extract_spelled_numbers,
    extract_terms,
    normalize_number,
    split_sentences,
    strip_markdown,
)

MARKUP = st.text(alphabet="[]()!|#*_`.,1aA \n<>'\"【】^:/h", max_size=300) | st.text(max_size=200)


def test_terms_are_stemmed_in_order_without_stop_words() -> None:
    assert extract_terms("The runners were running to the Runner") == ("runner", "run", "runner")


@pytest.mark.parametrize(
    ("written", "normal"),
    [("53,694", "53694"), ("007", "7"), ("2.50", "2.5"), ("1,5", "1.5"), ("0", "0"), ("10", "10"),
     ("100", "100"), ("1,234.50", "1234.5"), ("1.2.3", "1.2.3")],
)  # fmt: skip
def test_a_number_has_one_spelling(written: str, normal: str) -> None:
    assert normalize_number(written) == normal


def test_numbers_are_found_next_to_letters_and_dashes() -> None:
    assert extract_numbers("23–20 in the 1990s, 12th of 53,694") == {
        "23",
        "20",
        "1990",
        "12",
        "53694",
    }
    assert extract_spelled_numbers("Five of the twelve") == {"5", "12"}


def test_entities_are_the_capitalised_words() -> None:
    assert extract_entities("In Green Bay the Packers won") == {"green", "bai", "packer"}


def test_link_targets_images_addresses_and_citation_numbers_are_not_text() -> None:
    page = (
        "[![Image 1: a star](https://x.org/a(1).svg)](https://x.org/1999 \"Star 77\")\n"
        "The [Packers](https://x.org/wiki/Packers_(1921)) won[[3]](https://x.org/#cite-3) in"
        " 1982.[12] See https://x.org/2001/page."
    )  # fmt: skip
    text = strip_markdown(page)
    assert "Packers won in 1982." in " ".join(text.split())
    assert extract_numbers(text) == {"1982"}


def test_a_line_break_or_a_full_stop_ends_a_sentence() -> None:
    text = "Mr. Smith came to Green Bay in 1982. He stayed there for ten years.\nHeading\n---\n"
    assert split_sentences(text) == (
        "Mr. Smith came to Green Bay in 1982.",
        "He stayed there for ten years.",
        "Heading",
    )


def test_an_endless_sentence_is_cut_at_spaces() -> None:
    found = split_sentences("word " * 2_000)
    assert max(map(len, found)) <= MAX_SENTENCE_CHARS
    assert sum(sentence.split().count("word") for sentence in found) == 2_000


@given(MARKUP)
def test_reading_never_raises(text: str) -> None:
    for sentence in split_sentences(strip_markdown(text)):
        assert extract_terms(sentence)
        assert len(sentence) <= MAX_SENTENCE_CHARS
    extract_numbers(text), extract_spelled_numbers(text), extract_entities(text)


@pytest.mark.parametrize(
    "unit", ["[", "(", " ", "![", "](", "!", "(.", "](x(a)", "[[1", "! ", "1.", "!!!!!!a"]
)
def test_a_hostile_page_is_read_to_its_end(unit: str) -> None:
    page = unit * (100_000 // len(unit))
    assert all(len(found) <= MAX_SENTENCE_CHARS for found in split_sentences(strip_markdown(page)))
