"""What escaping leaves dangerous: addresses, and characters that act unseen."""

import re
from html import unescape
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.foreign_text import make_visible
from tasks.site.environment import MAX_URL_CHARS, render_page, safe_url

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


@given(st.text(max_size=80))
def test_a_template_prints_text_escaped_and_visible(text: str) -> None:
    shown = render_page("differences.html", site=_Site(text), here="", read=text, tables=[])
    assert make_visible(shown) == shown
    for said in re.findall('<p class="note">(.*?)</p>', shown, re.DOTALL):
        assert unescape(said) == make_visible(text)
        assert not set(said) & set("<>\"'")


class _Site:
    """As much of a site as the frame of a page needs."""

    def __init__(self, title: str) -> None:
        self.title = self.edition = self.licence = title
        self.notices = ()
        self.pages = ()
