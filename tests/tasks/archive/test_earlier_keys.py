"""Pages that were archived while redirects had keys of their own."""

import asyncio

import pytest

from tasks.archive.pending import find_pages_again, find_pending_pages, find_unread_pages
from tasks.extraction.urls import earlier_key
from tasks.warehouse.pages import Fetch, Page
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tests.tasks.cited_pages import AGENT, EDITION, a_fetch, a_page, cite

TARGET = "https://a.org/mill"
CITED = "https://www.google.com/url?q=https%3A%2F%2Fa.org%2Fmill&sa=U&ved=1"
OLD = earlier_key(CITED) or ""


def wanted(warehouse: Warehouse) -> list[str]:
    asyncio.run(find_pages_again(warehouse, EDITION))
    return [page.url for page in find_pending_pages(warehouse, EDITION, "direct")]


@pytest.mark.parametrize("final", [TARGET, "https://a.org/mills/1"])
def test_a_page_under_a_redirects_key_is_not_fetched_again(
    warehouse: Warehouse, final: str
) -> None:
    cite(warehouse, {AGENT: [CITED, "https://b.org/http://other"]})
    old = a_page(OLD, final_url=final, text="A mill.", source="direct")
    warehouse.write(Change(Page, [old]), Change(Fetch, [a_fetch(OLD, sha="s")]))
    assert wanted(warehouse) == ["https://b.org/http://other"]
    pages = {page.url: page for page in warehouse.rows(Page, "true")}
    assert pages[OLD] == old
    assert (pages[TARGET].text, pages[TARGET].final_url) == (
        "A mill.", None if final == TARGET else final,
    )  # fmt: skip
    assert [fetch.sha for fetch in warehouse.rows(Fetch, "true")] == ["s", "s"]
    again = find_unread_pages(warehouse, EDITION, again=True)
    assert {page.url for page in again} == {OLD, TARGET}
    assert wanted(warehouse) == ["https://b.org/http://other"]


@pytest.mark.parametrize(
    "old",
    [
        a_page(OLD, text="You are leaving us.", source="direct"),
        a_page(OLD, status="soft_404", final_url=TARGET, source="direct"),
    ],
)
def test_a_redirects_own_page_is_not_the_target(warehouse: Warehouse, old: Page) -> None:
    cite(warehouse, {AGENT: [CITED]})
    warehouse.write(Change(Page, [old]))
    assert wanted(warehouse) == [TARGET]


def test_a_published_page_is_found_and_what_is_there_stays(warehouse: Warehouse) -> None:
    other = "https://l.facebook.com/l.php?u=https%3A%2F%2Fa.org%2Fwheel"
    cite(warehouse, {AGENT: [CITED, other]})
    there = a_page("https://a.org/wheel", text="As fetched.", source="direct")
    warehouse.write(
        Change(Page, [a_page(OLD, text="A mill."), there,
                      a_page(earlier_key(other) or "", text="A wheel.")])
    )  # fmt: skip
    assert wanted(warehouse) == []
    texts = {page.url: page.text for page in warehouse.rows(Page, "true")}
    assert (texts[TARGET], texts[there.url]) == ("A mill.", "As fetched.")
