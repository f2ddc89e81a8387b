"""Twelve months from one wiki: no article twice, and anybody can redo each month's choice."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tasks.collection.exclusions import exclude_newly_frozen
from tasks.collection.freeze import (
    explain_too_few,
    find_pending_articles,
    freeze_article,
    freeze_edition,
)
from tasks.collection.listing import (
    date_members,
    find_pending_measurements,
    list_members,
    measure_batch,
)
from tasks.collection.request import CollectionRequest, begin_collection, months_before
from tasks.collection.wiki import connect_wiki
from tasks.configuration.wikipedia import WikipediaSettings
from tasks.processes.pool import HelperProcesses
from tasks.warehouse.store import Warehouse
from tests.rigs.mediawiki.collecting import OPERATOR
from tests.rigs.mediawiki.decoys import good, prose
from tests.rigs.mediawiki.running import missing, running
from tests.tasks.collection.test_listing import SETTINGS
from tests.tasks.conftest import warehouse
from tests.tasks.wikipedia.conftest import SimulatedClock

__all__ = ["warehouse"]

END = datetime(2025, 12, 1, tzinfo=UTC)
ENDS = [months_before(END, n) for n in range(11, -1, -1)]
"""The last day of each month's window."""
ARTICLES = 20


@pytest.mark.rig
@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_twelve_months_share_no_article_and_every_choice_can_be_redone(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    first = months_before(ENDS[0], 6)
    pages = [
        good(
            f"Mill number {n}",
            first + n * timedelta(days=2),
            wikitext=prose(f"Mill {'x' * (n * 7 % 13)}", n_urls=n * 5 % 17 + 1),
        )
        for n in range((END - first).days // 2)
    ]
    with running(tmp_path / "wiki", pages) as wiki:
        settings = SETTINGS.model_copy(
            update={"operator": OPERATOR, "api_url": wiki.api, "pageviews_url": None}
        )
        manifests = [asyncio.run(_month(warehouse, settings, until)) for until in ENDS]
    numbers = [len(manifest["articles"]) for manifest in manifests]
    print(f"articles by month: {numbers}")
    assert numbers[0] == ARTICLES
    assert all(10 <= number <= ARTICLES for number in numbers)
    assert warehouse.value("SELECT count(*) FROM shared_articles") == 0
    before: set[tuple[int, str]] = set()
    for manifest in manifests:
        assert {tuple(row) for row in manifest["excluded"]} == before
        assert [entry["page_id"] for entry in _redone(manifest)] == sorted(
            entry["page_id"] for entry in manifest["articles"]
        )
        before |= {(entry["page_id"], entry["title"]) for entry in manifest["articles"]}
    leftovers = [sum(e["is_leftover"] for e in manifest["articles"]) for manifest in manifests]
    assert leftovers[0] == 0
    assert any(leftovers)


def _redone(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """The chosen ones by what the manifest says of all that were ranked, by page id."""
    ranked = manifest["ranked"]
    assert not {row["page_id"] for row in ranked} & {page for page, _ in manifest["excluded"]}

    def rank(row: dict[str, Any], by: str) -> int:
        return 1 + sum(bool(other[by] > row[by]) for other in ranked)

    best = sorted(
        ranked,
        key=lambda row: (
            rank(row, "reference_urls") + rank(row, "headings"), -row["bytes"], row["page_id"]
        ),
    )  # fmt: skip
    return sorted(best[: manifest["n_articles"]], key=lambda row: row["page_id"])


async def _month(
    warehouse: Warehouse, settings: WikipediaSettings, until: datetime
) -> dict[str, Any]:
    request = CollectionRequest(edition=f"{until:%Y-%m}", until=until, articles=ARTICLES)
    collection = begin_collection(warehouse, request, settings, until + timedelta(hours=6))
    async with connect_wiki(settings, settings.api_url, clock=SimulatedClock()) as connected:
        await list_members(connected, warehouse, collection)
        [collection] = warehouse.rows(type(collection), "edition = $1", [collection.edition])
        await date_members(connected, warehouse, collection)
        for batch in find_pending_measurements(warehouse, collection.edition):
            await measure_batch(connected, warehouse, collection, batch)
        exclude_newly_frozen(warehouse, collection)
        assert explain_too_few(warehouse, collection, settings) is None
        helpers = HelperProcesses()
        while todo := find_pending_articles(warehouse, collection.edition):
            for candidate in todo:
                await freeze_article(connected, warehouse, helpers, collection, candidate)
        helpers.close()
    frozen = freeze_edition(warehouse, collection)
    manifest: dict[str, Any] = json.loads(frozen.manifest or "")
    return manifest
