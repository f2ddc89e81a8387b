"""Answers may not rest on the article that their question was made of."""

import pytest

from tasks.extraction.answers import AnsweredClaim
from tasks.protocols.claim_discovery.protocol import (
    NO_SOURCES,
    NOTHING_BANNED,
    compute_leakage,
    is_banned,
)

ARTICLE = "https://wiki.example/wiki/Old_Mill"
BANNED = (ARTICLE, "wikipedia.org", "mirror.example")


def claim(*sources: str, below: tuple[AnsweredClaim, ...] = ()) -> AnsweredClaim:
    return AnsweredClaim(value="x", sources=sources, sub_claims=below)


@pytest.mark.parametrize(
    ("url", "banned"),
    [
        (ARTICLE, True),
        ("http://wiki.example/wiki/Old_Mill#History", True),
        ("https://wiki.example/wiki/New_Mill", False),
        ("https://en.wikipedia.org/wiki/Anything", True),
        ("https://de.m.wikipedia.org/wiki/Etwas", True),
        ("https://notwikipedia.org/wiki/Anything", False),
        ("https://mirror.example/a", True),
        ("https://mirror.example.org/a", False),
        ("https://paper.example/wikipedia.org", False),
        ("no address", False),
        ("", False),
    ],
)
def test_a_banned_page_or_host_is_known_in_any_form(url: str, banned: bool) -> None:
    assert is_banned(url, BANNED, {}) is banned


def test_a_redirect_to_a_banned_page_or_host_is_banned() -> None:
    redirects = {
        "https://redirect.example/r/1": ARTICLE,
        "https://redirect.example/r/2": "https://en.wikipedia.org/wiki/Anything",
        "https://redirect.example/r/3": "https://paper.example",
    }
    urls = [f"https://redirect.example/r/{n}" for n in range(1, 5)]
    assert [is_banned(url, BANNED, redirects) for url in urls] == [True, True, False, False]
    assert is_banned("HTTP://redirect.example:80/r/1/?utm_source=x", BANNED, redirects)
    archived = [f"https://web.archive.org/web/2020/{url}" for url in urls]
    assert [is_banned(url, BANNED, redirects) for url in archived] == [True, True, False, False]
    claims = [claim(urls[0]), claim(urls[2])]
    assert compute_leakage(claims, BANNED, redirects) == (1.0, 2, 0, None)
    assert compute_leakage(claims, BANNED, {}) == (0.0, 2, 0, None)


OLD, NEW, SHORT = "https://old.example/p", "https://new.example/p", "https://t.example/x"
MOVED = {OLD: NEW, SHORT: NEW}


@pytest.mark.parametrize("banned", [OLD, NEW, SHORT, "http://www.old.example/p/"])
def test_a_ban_of_a_page_holds_for_what_it_leads_to_and_what_else_leads_there(banned: str) -> None:
    cited = (OLD, NEW, SHORT, "https://old.example/other", "https://new.example/")
    assert [is_banned(url, (banned,), MOVED) for url in cited] == [True, True, True, False, False]


def test_redirects_are_followed_to_their_end_and_a_ring_has_none() -> None:
    first, second, third = (f"https://{name}.example/x" for name in "abc")
    way = {first: second, second: third}
    assert is_banned(first, (third,), way)
    assert is_banned(first, ("c.example",), way)
    assert is_banned(third, (first,), way)
    ring = way | {third: first}
    assert is_banned(second, (first,), ring)
    assert not is_banned("https://d.example/x", (first,), ring)


def test_claims_with_a_banned_source_are_counted_among_those_with_any() -> None:
    clean = claim("https://paper.example/1")
    leaked = claim("https://paper.example/1", ARTICLE)
    below = claim(below=(claim("https://en.wikipedia.org/wiki/X"),))
    assert compute_leakage([clean, leaked, below, claim()], BANNED, {}) == (2.0, 3, 0, None)


def test_where_there_is_nothing_to_count_there_is_no_figure() -> None:
    assert compute_leakage([claim("https://a.example/")], (), {}) == (None, 0, 0, NOTHING_BANNED)
    assert compute_leakage([claim()], BANNED, {}) == (None, 0, 0, NO_SOURCES)
    assert compute_leakage([], BANNED, {}) == (None, 0, 0, NO_SOURCES)
