"""Which pages the baseline may use, and which of their sentences are statements."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.agents.baseline.index import extract_statements, is_source, is_statement

HOSTS = ("wikipedia.org", "wikiwand.com")


@pytest.mark.parametrize(
    "sentence",
    [
        "The bridge was opened in 1901 and closed to traffic again after the flood of 1953.",
        "It was the second tower on the site.",
        '"We had no other choice," the mayor told the newspaper after the vote.',
        "World War I ended the work on the tunnel before it had reached the lake.",
    ],
)
def test_plain_statements_are_taken(sentence: str) -> None:
    assert is_statement(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "We use cookies to improve the experience of the visitors of this site.",
        "Subscribe to the weekly letter for all of the news of the region.",
        "If you have any questions, you can write to the address that is given below.",
        "I think that the bridge was the best of all those in the country.",
        "Home News Sport Weather Travel Music Business Culture Shop.",
        "Who was the man that had built the bridge in the first place?",
        "The bridge was opened in the year of the great flood and then...",
        "Bridge opened.",
        "Le pont fut ouvert en 1901 et détruit par une crue peu de temps après.",
        "He said that it was “the last of the bridges of the town.",
        "of the bridge that was opened in the year of the flood.",
    ],
)
def test_notices_menus_chatter_and_fragments_are_not(sentence: str) -> None:
    assert not is_statement(sentence)


def test_links_tables_and_headings_are_left_out_and_markup_with_them() -> None:
    text = (
        "# The bridge was opened in the year of the great flood.\n"
        "| The bridge was opened in the year of the flood. | 1901 |\n"
        "* [The bridge was opened in the year of the flood.](https://a.example/x)\n"
        "![The bridge was opened in the year.](https://a.example/i.png) of the flood.\n"
        'The **bridge** was built by [Ada Holm](https://a.example/ada "Ada") and opened in 1901.'
        " It was closed in 1953 after the ice had broken two of its piers.[3]\n"
    )
    assert list(extract_statements(text)) == [
        "The bridge was built by Ada Holm and opened in 1901.",
        "It was closed in 1953 after the ice had broken two of its piers.",
    ]


def test_a_sentence_that_a_narrow_page_broke_is_whole_again() -> None:
    text = (
        "The bridge over the Orrin was built by Ada Holm and opened\n"
        "in 1901. It was closed in 1953 after the ice had broken two of its\n"
        "piers.\n"
    )
    assert list(extract_statements(text)) == [
        "The bridge over the Orrin was built by Ada Holm and opened in 1901.",
        "It was closed in 1953 after the ice had broken two of its piers.",
    ]


@pytest.mark.parametrize(
    ("url", "title", "text", "usable"),
    [
        ("https://a.example/x", "A page", "Text.", True),
        ("https://wikipedia.example/x", "A page", "Text.", True),
        ("https://de.wikipedia.org/wiki/X", "X", "Text.", False),
        ("https://en.m.wikipedia.org/wiki/X", "X", "Text.", False),
        ("https://a.example/x", "X - Wikipedia", "Text.", False),
        ("https://a.example/x", "X", "Text. This article uses material from the Wikipedia.", False),
        ("https://google.com/search?q=x", "x", "Text.", False),
        ("https://books.google.com/books?id=1", "A book", "Text.", True),
        ("https://a.example/x", "404 Not Found", "Text.", False),
        ("no address", "X", "Text.", False),
    ],
)
def test_encyclopedias_copies_searches_and_errors_are_no_sources(
    url: str, title: str, text: str, usable: bool
) -> None:
    assert is_source(url, title, text, HOSTS) is usable


@given(st.text(alphabet=st.sampled_from('aT ."“”[](){}|*_#\n1é\\<>!:/')))
def test_any_text_gives_statements_that_stand_by_themselves(text: str) -> None:
    for said in extract_statements(text):
        assert is_statement(said)
        assert "\n" not in said
        assert not set(said) & set("[]|*_`#")
