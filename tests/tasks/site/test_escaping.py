"""What escaping leaves dangerous: addresses, and characters that act unseen."""

import re
import unicodedata
from html import unescape
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.site.environment import render_page
from tasks.site.escaping import MAX_URL_CHARS, escape_invisible, safe_url

BAD = (
    None, "", "javascript:alert(1)", "JAVASCRIPT:alert(1)", " javascript:x", "java\nscript:x",
    "data:text/html,x", "vbscript:x", "file:///etc/passwd", "ftp://example.org", "//example.org",
    "/path", "example.org", "https:", "https://", "https:///path", "http://user@example.org",
    "https://user:secret@example.org/", "https://example.org:port/", "https://example.org:99999/",
    "https://example.org/a b", "https://example.org/\x00", "https://example.org/\u202ea",
    "https://example.org/\u2028", "https://example.org/\ud800", "https://[::1", "https://\u2066x/",
    "https://example.org/" + "a" * MAX_URL_CHARS,
)  # fmt: skip
GOOD = (
    "https://example.org", "HTTP://EXAMPLE.ORG/A?b=c&d=%20#e", "http://example.org:8080/",
    "https://пример.испытание/страница", "https://[::1]/", "https://example.org/(brackets)'quotes'",
    "https://example.org/\"quoted\"",
)  # fmt: skip


@pytest.mark.parametrize("url", BAD)
def test_no_link_leads_there(url: str | None) -> None:
    assert safe_url(url) is None


@pytest.mark.parametrize("url", GOOD)
def test_a_link_may_lead_to_the_web(url: str) -> None:
    assert safe_url(url) == url


@given(st.text(max_size=60) | st.text(max_size=40).map("https://example.org/{}".format))
def test_what_may_be_linked_is_the_web_with_a_host_and_without_a_user(url: str) -> None:
    if address := safe_url(url):
        parts = urlsplit(address)
        assert parts.scheme.lower() in ("http", "https")
        assert parts.hostname
        assert parts.username is None
        assert not any(c.isspace() for c in address)


@given(st.text())
def test_visible_text_has_no_control_and_no_direction_of_its_own(text: str) -> None:
    shown = escape_invisible(text)
    for c in shown:
        assert unicodedata.category(c) not in ("Cc", "Cs") or c in "\t\n"
        assert unicodedata.bidirectional(c) not in (
            "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"
        )  # fmt: skip
    assert escape_invisible(shown) == shown


@given(st.text(st.characters(exclude_categories=["C", "Zl", "Zp"])))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert escape_invisible(text) == text


def test_scripts_that_need_joiners_keep_them() -> None:
    for text in ("👩‍👩‍👧‍👦", "می‌خواهم", "क्‍ष", "שלום עולם", "مرحبا"):
        assert escape_invisible(text) == text


def test_an_override_is_named() -> None:
    assert escape_invisible("invoice\u202egpj.exe") == "invoice⟨U+202E⟩gpj.exe"


@given(st.text(max_size=80))
def test_a_template_prints_text_escaped_and_visible(text: str) -> None:
    shown = render_page("differences.html", site=_Site(text), here="", read=text, tables=[])
    assert escape_invisible(shown) == shown
    for said in re.findall('<p class="note">(.*?)</p>', shown, re.DOTALL):
        assert unescape(said) == escape_invisible(text)
        assert not set(said) & set("<>\"'")


class _Site:
    """As much of a site as the frame of a page needs."""

    def __init__(self, title: str) -> None:
        self.title = self.edition = self.licence = title
        self.notices = ()
        self.pages = ()
