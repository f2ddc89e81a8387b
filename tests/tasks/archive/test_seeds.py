"""Which pages an agent that is given the sources gets, and who else may have them."""

import pytest

from tasks.archive.pending import describe_open_pages, find_pending_pages
from tasks.editions.state import has_pages
from tasks.planning.sources import choose_seed_pages, find_missing_sources
from tasks.warehouse.pages import Page, SeedPage
from tasks.warehouse.store import Warehouse
from tasks.warehouse.wiki_editions import ArticleLink
from tasks.warehouse.writer import Change
from tests.tasks.cited_pages import EDITION, a_page, cite

AGENT = "sources_baseline"


@pytest.fixture
def warehouse(warehouse: Warehouse) -> Warehouse:
    """Two articles; the first cites four pages, among them an encyclopedia, the second two."""
    links = {
        "a": ["https://a.org/1", "https://en.wikipedia.org/wiki/A", "https://a.org/2",
              "https://a.org/3"],
        "b": ["https://b.org/1", "https://a.org/1"],
    }  # fmt: skip
    warehouse.write(Change(ArticleLink, [
        ArticleLink(edition=EDITION, article=article, number=number, url=url,
                    raw_url=url.replace("https", "http"))
        for article, urls in links.items() for number, url in enumerate(urls)
    ]))  # fmt: skip
    return warehouse


def chosen(warehouse: Warehouse, most: int) -> list[str]:
    return [page.url for page in choose_seed_pages(warehouse, EDITION, AGENT, most)]


def test_pages_are_chosen_evenly_up_to_the_cap_without_encyclopedias(warehouse: Warehouse) -> None:
    every = ["https://a.org/1", "https://b.org/1", "https://a.org/2", "https://a.org/3"]
    assert chosen(warehouse, 100) == every
    assert chosen(warehouse, 2) == every[:2]


def test_what_was_chosen_once_stays(warehouse: Warehouse) -> None:
    warehouse.write(Change(SeedPage, choose_seed_pages(warehouse, EDITION, AGENT, 2)))
    assert chosen(warehouse, 100) == []
    found = find_pending_pages(warehouse, EDITION, "direct", [AGENT])
    assert [page.addresses for page in found] == [("http://a.org/1",), ("http://b.org/1",)]
    assert find_pending_pages(warehouse, EDITION, "direct", ["another"]) == []


def test_a_source_that_was_not_fetched_is_named_as_open(warehouse: Warehouse) -> None:
    warehouse.write(
        Change(SeedPage, choose_seed_pages(warehouse, EDITION, AGENT, 2)),
        Change(Page, [a_page("https://a.org/1")]),
    )
    told = describe_open_pages(warehouse, EDITION, [AGENT])
    assert told == "1 page of 1 host is open, not gone: b.org. Run the same command again."
    assert describe_open_pages(warehouse, EDITION, ["another"]) is None
    warehouse.write(Change(Page, [a_page("https://b.org/1", status="unfetchable")]))
    assert describe_open_pages(warehouse, EDITION, [AGENT]) is None


def test_a_page_is_withheld_until_an_agent_that_searches_cites_it(warehouse: Warehouse) -> None:
    warehouse.write(Change(SeedPage, choose_seed_pages(warehouse, EDITION, AGENT, 3)))
    cite(warehouse, {AGENT: ["https://a.org/1"], "another": ["https://b.org/1"]})
    withheld = warehouse.frame("SELECT url FROM withheld_pages ORDER BY url")["url"].to_list()
    assert withheld == ["https://a.org/1", "https://a.org/2"]


def test_an_agent_waits_for_its_sources_and_is_not_asked_without_any(warehouse: Warehouse) -> None:
    seeds = choose_seed_pages(warehouse, EDITION, AGENT, 1)
    warehouse.write(Change(SeedPage, seeds))
    waits = "Some of the articles' sources are still to be fetched; run again."
    assert find_missing_sources(warehouse, EDITION, AGENT) == waits
    lost = Page(edition=EDITION, url=seeds[0].url, status="soft_404")
    warehouse.write(Change(Page, [lost]))
    none = "None of the pages that the articles' references link to is archived."
    assert find_missing_sources(warehouse, EDITION, AGENT) == none
    assert not has_pages(warehouse, EDITION)
    warehouse.write(Change(Page, [lost.model_copy(update={"status": "ok", "text": "A mill."})]))
    assert find_missing_sources(warehouse, EDITION, AGENT) is None
    assert not has_pages(warehouse, EDITION)  # for those who search: it is withheld
    cite(warehouse, {"another": [seeds[0].url]})
    assert has_pages(warehouse, EDITION)
