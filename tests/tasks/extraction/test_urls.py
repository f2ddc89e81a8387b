"""The page key: two ways of writing an address meet, and a key's key is itself."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tasks.extraction.urls import is_same_page, normalise_url

ANT = "https://en.wikipedia.org/wiki/Parasitic_ant"


@pytest.mark.parametrize(
    "other",
    [
        "http://en.wikipedia.org/wiki/Parasitic_ant",
        "HTTPS://EN.Wikipedia.ORG/wiki/Parasitic_ant",
        "https://en.wikipedia.org:443/wiki/Parasitic_ant/",
        "https://en.m.wikipedia.org/wiki/Parasitic_ant#Life_cycle",
        "https://en.wikipedia.org/wiki/Parasitic\\_ant",
        "https://en.wikipedia.org/wiki/Parasitic%5Fant",
        "<https://en.wikipedia.org/wiki/Parasitic_ant>.",
        "https://en.wikipedia.org/wiki/Parasitic_ant?utm_source=chatgpt.com&fbclid=1",
        "https://en.wikipedia.org/wiki/Parasitic_ant)",
    ],
)
def test_ways_of_writing_one_address_meet(other: str) -> None:
    assert normalise_url(other) == normalise_url(ANT) == ANT


def test_percent_encoding_has_one_form_whatever_was_encoded() -> None:
    encoded = normalise_url("https://a.org/wiki/Caf%c3%a9_%28song%29")
    assert encoded == normalise_url("https://a.org/wiki/Café_(song)")
    assert encoded == "https://a.org/wiki/Caf%C3%A9_(song)"


def test_query_parameters_that_name_the_page_stay_in_one_order() -> None:
    assert normalise_url("https://a.org/x?b=2&a=1&amp;gclid=z") == "https://a.org/x?a=1&b=2"


def test_a_title_may_end_with_an_exclamation_mark_or_a_bracket() -> None:
    assert normalise_url("https://en.wikipedia.org/wiki/Dungka!") == (
        "https://en.wikipedia.org/wiki/Dungka!"
    )
    assert normalise_url("https://a.org/Cow_(Mario)") == "https://a.org/Cow_(Mario)"


def test_mobile_and_www_hosts_are_the_plain_host() -> None:
    assert normalise_url("https://www.a.org/x") == normalise_url("https://m.a.org/x")
    assert normalise_url("https://m.co/x") == "https://m.co/x"


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
