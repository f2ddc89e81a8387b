"""Which pages an agent that is given the sources gets, and who else may have them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.pending.pages import find_pending_pages
from tasks.pending.seeds import choose_seed_pages
from tasks.warehouse.pages import SeedPage
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.wiki_editions import ArticleLink
from tasks.warehouse.writer import Change
from tests.tasks.cited_pages import EDITION, cite

AGENT = "sources_baseline"


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[Warehouse]:
    """Two articles; the first cites four pages, among them an encyclopedia, the second two."""
    links = {
        "a": ["https://a.org/1", "https://en.wikipedia.org/wiki/A", "https://a.org/2",
              "https://a.org/3"],
        "b": ["https://b.org/1", "https://a.org/1"],
    }  # fmt: skip
    with open_warehouse(tmp_path / "w.duckdb") as store:
        store.write(Change(ArticleLink, [
            ArticleLink(edition=EDITION, article=article, number=number, url=url,
                        raw_url=url.replace("https", "http"))
            for article, urls in links.items() for number, url in enumerate(urls)
        ]))  # fmt: skip
        yield store


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


def test_a_page_is_withheld_until_an_agent_that_searches_cites_it(warehouse: Warehouse) -> None:
    warehouse.write(Change(SeedPage, choose_seed_pages(warehouse, EDITION, AGENT, 3)))
    cite(warehouse, {AGENT: ["https://a.org/1"], "another": ["https://b.org/1"]})
    withheld = warehouse.frame("SELECT url FROM withheld_pages ORDER BY url")["url"].to_list()
    assert withheld == ["https://a.org/1", "https://a.org/2"]
