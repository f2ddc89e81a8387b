"""The addresses in an article's references, each page once, with its copy in an archive."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.extraction.urls import normalise_url
from tasks.extraction.wrappers import find_target
from tasks.wikipedia.references import ReferenceUrl, find_reference_urls
from tests.tasks.wikipedia.rendered_pages import LEGACY, PARSOID

WAYBACK = "https://web.archive.org/web/20200101000000/"


def link(url: str, classes: str = "external text") -> str:
    return f'<a rel="nofollow" class="{classes}" href="{url}">words</a>'


def listed(*entries: str) -> str:
    """A list of references with these entries."""
    return '<ol class="references">' + "".join(f"<li>{e}</li>" for e in entries) + "</ol>"


def found(html: str) -> list[tuple[str, str | None]]:
    return [(reference.url, reference.archive_url) for reference in find_reference_urls(html)]


def test_a_citation_with_its_copy_is_one_reference() -> None:
    copy = f"{WAYBACK}https://example.org/ship"
    assert find_reference_urls(LEGACY) == (
        ReferenceUrl("https://example.org/ship", "https://example.org/ship", copy),
    )


def test_a_doi_in_parsoids_markup_counts() -> None:
    assert found(PARSOID) == [("https://doi.org/10.1000/182", None)]


INSIDE = ("/wiki/Ship", "./Ship", "#cite_ref-1", "javascript:alert(1)", "mailto:a@example.org",
          "https://en.wikipedia.org/w/index.php?title=Ship&amp;oldid=1",
          "//example.org/kept")  # fmt: skip
GONE, BOOK, SHORT = (
    "http://gone.org/a?b=c",
    "https://archive.org/details/book",
    "https://archive.ph/x",
)
ONE = "https://a.org/1"


@pytest.mark.parametrize(
    ("html", "references"),
    [
        (
            f"<p>{link('https://example.org/body')}</p>"
            + listed(link("https://de.wikipedia.org/wiki/Schiff", "extiw"), *map(link, INSIDE)),
            [("https://example.org/kept", None)],
        ),
        (
            f'<p><cite class="citation">{link(ONE)}</cite></p>'
            f'<div class="refbegin"><ul><li>{link("https://b.org/2")}</li></ul></div>'
            + listed(link("https://c.org/3"), link("http://www.a.org/1/#top")),
            [(ONE, None), ("https://b.org/2", None), ("https://c.org/3", None)],
        ),
        (listed(link(SHORT) + link("http://dead.org/page")), [("http://dead.org/page", SHORT)]),
        (
            listed(link(ONE) + link("https://archive.today/x1") + link("https://doi.org/9")),
            [(ONE, "https://archive.today/x1"), ("https://doi.org/9", None)],
        ),
        (listed(link(WAYBACK + GONE)), [(GONE, WAYBACK + GONE)]),
        (listed(link(SHORT)), [(SHORT, None)]),
        (listed(link(ONE), link(ONE) + link(WAYBACK + ONE)), [(ONE, WAYBACK + ONE)]),
        (listed(link(BOOK)), [(BOOK, None)]),
        ("", []),
        ("<p>x</p>", []),
    ],
    ids=[
        "links outside references and to the wiki do not count",
        "bibliographies and citations anywhere count in order",
        "the title of a dead page leads to the copy",
        "a short copy belongs to the page before it",
        "a copy alone counts as the page its address names",
        "a copy of an unknown page counts as itself",
        "a later reference may bring the copy",
        "a book on archive.org is no copy",
        "nothing has none",
        "a page without references has none",
    ],
)
def test_each_page_counts_once_with_its_copy(
    html: str, references: list[tuple[str, str | None]]
) -> None:
    assert found(html) == references


@pytest.mark.parametrize(
    ("copy", "page"),
    [
        (f"{WAYBACK}https://a.org/x?y=http://b.org", "https://a.org/x?y=http://b.org"),
        ("https://web.archive.org/web/2019id_/http:/a.org/x", "http://a.org/x"),
        ("https://web.archive.org/web/20190101/a.org/x", "http://a.org/x"),
        ("https://archive.today/20200101000000/https://a.org/x", "https://a.org/x"),
        ("https://www.webcitation.org/6abc?url=http%3A%2F%2Fa.org%2Fx", "http://a.org/x"),
        ("https://webarchive.nationalarchives.gov.uk/ukgwa/2012/http://a.org/", "http://a.org/"),
        ("https://archive.ph/AbCde", None),
        ("https://ghostarchive.org/archive/AbCde", None),
    ],
)
def test_the_address_of_a_copy_may_name_the_page(copy: str, page: str | None) -> None:
    assert find_target(copy, copies=True) == page


URLS = st.sampled_from(
    [
        "https://a.org/1", "http://www.a.org/1/", "https://b.org/?q=1", f"{WAYBACK}https://a.org/1",
        "https://archive.ph/x", "javascript:x", "/wiki/A", "//c.org/2", "https://[", "http://",
        f"{WAYBACK}https://[bad", "https://en.wikipedia.org/wiki/A",
    ]
)  # fmt: skip
ENTRIES = st.lists(st.lists(st.one_of(URLS, st.text(max_size=20)), max_size=6), max_size=6)


@given(ENTRIES)
def test_each_page_comes_once_under_its_own_key(entries: list[list[str]]) -> None:
    escaped = [[url.replace("&", "&amp;").replace('"', "&quot;") for url in e] for e in entries]
    references = find_reference_urls(listed(*("".join(map(link, entry)) for entry in escaped)))
    keys = [reference.normalised for reference in references]
    assert len(keys) == len(set(keys))
    assert keys == [normalise_url(reference.url) for reference in references]
    named = {key for entry in entries for url in entry if (key := normalise_url(url))}
    copies = [r.archive_url for r in references if r.archive_url]
    assert {normalise_url(copy) for copy in copies} <= named


@given(st.text())
def test_any_text_can_be_searched_for_references(html: str) -> None:
    assert find_reference_urls(html) == ()
