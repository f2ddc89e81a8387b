"""The page key: two ways of writing an address meet, and a key's key is itself."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tasks.extraction.urls import is_same_page, normalise_url

ANT = "https://en.wikipedia.org/wiki/Parasitic_ant"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://en.wikipedia.org/wiki/Parasitic_ant", ANT),
        ("HTTPS://EN.Wikipedia.ORG/wiki/Parasitic_ant", ANT),
        ("https://en.wikipedia.org:443/wiki/Parasitic_ant/", ANT),
        ("https://en.m.wikipedia.org/wiki/Parasitic_ant#Life_cycle", ANT),
        ("https://en.wikipedia.org/wiki/Parasitic\\_ant", ANT),
        ("https://en.wikipedia.org/wiki/Parasitic%5Fant", ANT),
        ("<https://en.wikipedia.org/wiki/Parasitic_ant>.", ANT),
        ("https://en.wikipedia.org/wiki/Parasitic_ant?utm_source=chatgpt.com&fbclid=1", ANT),
        ("https://en.wikipedia.org/wiki/Parasitic_ant)", ANT),
        # Percent encoding has one form, whatever was encoded.
        ("https://a.org/wiki/Caf%c3%a9_%28song%29", "https://a.org/wiki/Caf%C3%A9_(song)"),
        ("https://a.org/wiki/Café_(song)", "https://a.org/wiki/Caf%C3%A9_(song)"),
        # Parameters that name the page stay, in one order.
        ("https://a.org/x?b=2&a=1&amp;gclid=z", "https://a.org/x?a=1&b=2"),
        # A title may end with an exclamation mark or a bracket.
        ("https://en.wikipedia.org/wiki/Dungka!", "https://en.wikipedia.org/wiki/Dungka!"),
        ("https://a.org/Cow_(Mario)", "https://a.org/Cow_(Mario)"),
        ("https://www.a.org/x", "https://a.org/x"),
        ("https://m.a.org/x", "https://a.org/x"),
        ("https://m.co/x", "https://m.co/x"),
    ],
)
def test_ways_of_writing_one_address_meet(url: str, key: str) -> None:
    assert normalise_url(url) == normalise_url(key) == key


@pytest.mark.parametrize(
    "text",
    ["", "ref_3", "ftp://a.org/x", "https://", "https://x", "mailto:a@b.c", "https://a b.org"],
)
def test_what_is_no_web_address_has_no_key(text: str) -> None:
    assert normalise_url(text) is None


@settings(deadline=None)
@given(st.text(max_size=60).map(lambda tail: "https://a.org/" + tail) | st.text(max_size=60))
@example("https://a.org/a./")
@example("https://a.org/a%29%2E/%2E?")
@example("https://m.www.a.org/%2525")
@example("https://a.org/?q=%FF&q=%2E")
def test_a_key_is_its_own_key_and_nothing_raises(url: str) -> None:
    key = normalise_url(url)
    assert key is None or normalise_url(key) == key


@pytest.mark.parametrize(
    "cited",
    [
        "https://en.m.wikipedia.org/wiki/Caf%C3%A9_ant?action=history",
        "https://en.wikipedia.org/w/index.php?title=Café ant",
        "https://en.wikipedia.org/?title=Caf%C3%A9_ant",
        "http://en.wikipedia.org/wiki/café%20ant#History",
    ],
)
def test_an_article_is_recognised_however_it_is_cited(cited: str) -> None:
    assert is_same_page(cited, "https://en.wikipedia.org/wiki/Café_ant")


def test_other_pages_and_other_languages_are_other_pages() -> None:
    assert not is_same_page("https://en.wikipedia.org/wiki/Talk:Parasitic_ant", ANT)
    assert not is_same_page("https://de.wikipedia.org/wiki/Parasitic_ant", ANT)
    assert not is_same_page("no address", "no address either")
