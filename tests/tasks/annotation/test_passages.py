"""Cutting a page around what matters, and saying so."""

from tasks.annotation.texts import GAP, cut_passage

LONG = [f"Sentence {n} " + "x" * 90 for n in range(100)]


def test_a_short_page_is_shown_whole_and_without_a_note() -> None:
    text = cut_passage("Page", ["One.", "Two."], [1])
    assert (text.text, text.note) == ("One.\n\nTwo.", "")


def test_a_long_page_is_cut_around_the_sentences_that_matter_and_says_so() -> None:
    text = cut_passage("Page", LONG, [50, 51, 0])
    parts = text.text.split("\n\n")
    assert [part.split(" x")[0] for part in parts] == [
        *(f"Sentence {n}" for n in (0, 1, 2)), GAP,
        *(f"Sentence {n}" for n in (48, 49, 50, 51, 52, 53)), GAP,
    ]  # fmt: skip
    assert text.note.startswith("Cut: ")


def test_a_long_page_without_a_shared_word_shows_its_beginning_and_says_why() -> None:
    text = cut_passage("Page", LONG, [])
    assert text.text.startswith("Sentence 0 ")
    assert len(text.text) < 4_200
    assert "no sentence shares a word" in text.note


def test_no_more_is_shown_than_one_can_read() -> None:
    long_sentences = ["y" * 1_000] * 50
    text = cut_passage("Page", long_sentences, [5, 20, 40])
    assert text.note.startswith("Cut: 5,000 of 50,000 characters are shown")
