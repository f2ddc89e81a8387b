"""The addresses in an article's references, each page once, with its copy in an archive."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.extraction.urls import normalise_url
from tasks.wikipedia.references import ReferenceUrl, find_original_url, find_reference_urls
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


def test_links_outside_references_and_to_the_wiki_do_not_count() -> None:
    inside = (
        link("/wiki/Ship")
        + link("./Ship")
        + link("#cite_ref-1")
        + link("javascript:alert(1)")
        + link("mailto:a@example.org")
        + link("https://de.wikipedia.org/wiki/Schiff", "extiw")
        + link("https://en.wikipedia.org/w/index.php?title=Ship&amp;oldid=1")
        + link("//example.org/kept")
    )
    html = f"<p>{link('https://example.org/body')}</p>{listed(inside)}"
    assert found(html) == [("https://example.org/kept", None)]


def test_bibliographies_and_citations_anywhere_count_in_order() -> None:
    html = (
        f'<p><cite class="citation">{link("https://a.org/1")}</cite></p>'
        f'<div class="refbegin"><ul><li>{link("https://b.org/2")}</li></ul></div>'
        + listed(link("https://c.org/3"), link("http://www.a.org/1/#top"))
    )
    assert [url for url, _ in found(html)] == [
        "https://a.org/1",
        "https://b.org/2",
        "https://c.org/3",
    ]


def test_the_title_of_a_dead_page_leads_to_the_copy() -> None:
    entry = link("https://archive.ph/AbCde") + link("http://dead.org/page")
    assert found(listed(entry)) == [("http://dead.org/page", "https://archive.ph/AbCde")]


def test_a_short_copy_belongs_to_the_page_before_it() -> None:
    entry = link("https://a.org/1") + link("https://archive.today/x1") + link("https://doi.org/9")
    assert found(listed(entry)) == [
        ("https://a.org/1", "https://archive.today/x1"),
        ("https://doi.org/9", None),
    ]


def test_a_copy_alone_counts_as_the_page_its_address_names() -> None:
    copy = f"{WAYBACK}http://gone.org/a?b=c"
    assert found(listed(link(copy))) == [("http://gone.org/a?b=c", copy)]


def test_a_copy_of_an_unknown_page_counts_as_itself() -> None:
    assert found(listed(link("https://archive.ph/AbCde"))) == [("https://archive.ph/AbCde", None)]


def test_a_later_reference_may_bring_the_copy() -> None:
    copy = f"{WAYBACK}https://a.org/1"
    html = listed(link("https://a.org/1"), link("https://a.org/1") + link(copy))
    assert found(html) == [("https://a.org/1", copy)]


def test_a_book_on_archive_org_is_no_copy() -> None:
    url = "https://archive.org/details/book"
    assert found(listed(link(url))) == [(url, None)]


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
    assert find_original_url(copy) == page


def test_a_page_without_references_has_none() -> None:
    assert find_reference_urls("") == find_reference_urls("<p>x</p>") == ()


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
