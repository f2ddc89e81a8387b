"""What measuring finds of pages on a scripted wiki, and which of them are then chosen."""

import asyncio
from collections.abc import Callable
from contextlib import closing

from tasks.collection.freeze import find_pending_articles, freeze_article, freeze_edition
from tasks.collection.listing import (
    date_members,
    find_pending_measurements,
    list_members,
    measure_batch,
)
from tasks.collection.request import CollectionRequest, begin_collection
from tasks.collection.wiki import connect_wiki
from tasks.processes.pool import HelperProcesses
from tasks.warehouse.store import Warehouse
from tasks.warehouse.wiki_editions import Candidate, Collection
from tasks.warehouse.writer import Change
from tests.rigs.mediawiki.collecting import OPERATOR
from tests.rigs.mediawiki.decoys import IN_JUNE, SINCE, UNTIL, good, prose
from tests.rigs.paper_wiki import PaperWiki, paper_wiki
from tests.tasks.collection.test_listing import NOW, SETTINGS
from tests.tasks.wikipedia.conftest import SimulatedClock

RULES_1 = '{"fewest_words": 300, "margin": 10, "version": 1}'
GOOD = "{{GA|10:00, 10 December 2025 (UTC)|topic=Songs|page=1}}"
PAGES = [
    good(title, IN_JUNE, wikitext=tags + prose(title), talk=said + GOOD)
    for title, tags, said in (
        ("Plain mill", "{{Use dmy dates|date=June 2025}}", ""),
        ("Mill of a machine", "{{Multiple issues|{{Update}}{{AI-generated|date=June 2025}}}}", ""),
        ("Mill in a section", "Text.\n== Use ==\n{{llm|section|date=June 2025}}\n", ""),
        ("Mill in doubt", "Old.{{Citation needed|date=May 2025}}", "{{GAR/link|page=2|status= }}"),
        ("Mill that was kept", "", "{{GAR/link|page=2|status=kept}}"),
    )
]


def collected(
    warehouse: Warehouse,
    meanwhile: Callable[[PaperWiki], None] = lambda wiki: None,
    rules: str | None = None,
) -> dict[str, Candidate]:
    """All steps of a collection of PAGES, by these rules if given; its candidates by title."""
    with paper_wiki(PAGES) as wiki:
        asyncio.run(_collect(warehouse, wiki, meanwhile, rules))
    return {candidate.title: candidate for candidate in warehouse.rows(Candidate, "true")}


async def _collect(
    warehouse: Warehouse,
    wiki: PaperWiki,
    meanwhile: Callable[[PaperWiki], None],
    rules: str | None,
) -> Collection:
    settings = SETTINGS.model_copy(
        update={"operator": OPERATOR, "api_url": wiki.api, "pageviews_url": None}
    )
    request = CollectionRequest(edition="e", since=SINCE, until=UNTIL, api_url=wiki.api)
    collection = begin_collection(warehouse, request, settings, NOW)
    if rules:
        collection = collection.model_copy(update={"rules": rules})
        warehouse.write(Change(Collection, [collection]))
    async with connect_wiki(settings, wiki.api, clock=SimulatedClock()) as connected:
        await list_members(connected, warehouse, collection)
        meanwhile(wiki)
        await date_members(connected, warehouse, collection)
        for batch in find_pending_measurements(warehouse, "e"):
            await measure_batch(connected, warehouse, collection, batch)
        with closing(HelperProcesses(1)) as helpers:
            for candidate in find_pending_articles(warehouse, "e"):
                await freeze_article(connected, warehouse, helpers, collection, candidate)
    return freeze_edition(warehouse, collection)


def test_text_of_machines_and_articles_in_doubt_are_not_chosen(warehouse: Warehouse) -> None:
    found = collected(warehouse)
    assert {title: candidate.decision for title, candidate in found.items()} == {
        "Plain mill": "chosen",
        "Mill of a machine": "machine_written",
        "Mill in a section": "machine_written",
        "Mill in doubt": "under_reassessment",
        "Mill that was kept": "chosen",
    }


def test_maintenance_tags_are_kept_of_every_measured_candidate(warehouse: Warehouse) -> None:
    found = collected(warehouse)
    assert {title: candidate.maintenance_tags for title, candidate in found.items()} == {
        "Plain mill": "",
        "Mill of a machine": "ai-generated, update",
        "Mill in a section": "llm",
        "Mill in doubt": "citation needed",
        "Mill that was kept": "",
    }


def test_a_collection_begun_by_earlier_rules_keeps_them(warehouse: Warehouse) -> None:
    found = collected(warehouse, rules=RULES_1)
    assert {candidate.decision for candidate in found.values()} == {"chosen"}
    assert {candidate.maintenance_tags for candidate in found.values()} == {None}


def test_a_page_that_moves_keeps_title_address_and_topic_together(warehouse: Warehouse) -> None:
    found = collected(warehouse, lambda wiki: wiki.move("Plain mill", "Mill that moved"))
    assert "Plain mill" not in found
    assert str(found["Mill that moved"].url).endswith("/wiki/Mill_that_moved")
    assert found["Mill that moved"].category == "Music"
    frozen = warehouse.frame("SELECT title, url FROM articles WHERE article = 'Mill_that_moved'")
    assert frozen.rows() == [("Mill that moved", found["Mill that moved"].url)]
