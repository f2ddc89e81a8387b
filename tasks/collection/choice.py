"""Count what a collection could choose from, without beginning it."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tasks.base import format_count
from tasks.benchmarks.errors import EditionError
from tasks.collection.listing import (
    date_members,
    find_pending_measurements,
    list_members,
    measure_batch,
)
from tasks.collection.request import CollectionRequest, begin_collection
from tasks.collection.wiki import connect_wiki
from tasks.configuration.wikipedia import WikipediaSettings
from tasks.warehouse.rows import Edition
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.wiki_editions import Candidate, Collection, ExcludedArticle
from tasks.warehouse.writer import Change

COUNTS = """
SELECT (SELECT count(*) FROM candidates WHERE decision = 'in_other_edition'), count(*),
    count(*) FILTER (is_leftover)
FROM candidate_ranking
"""


class Choice(NamedTuple):
    """What an edition could be chosen from."""

    edition: str
    listed: int
    """Good articles listed since the window began."""
    in_other_editions: int
    fresh: int
    """Articles that can be chosen."""
    leftovers: int
    """Of these, older than the end of the last edition's window."""
    articles: int
    """The most that are chosen."""
    fewest_articles: int
    """With fewer the edition is not frozen."""

    def describe(self) -> str:
        taken = min(self.fresh, self.articles)
        enough = f"{format_count(taken, 'article')} would be chosen"
        if self.fresh < self.fewest_articles:
            enough = f"too few: it needs {self.fewest_articles:,} (`fewest_articles`)"
        return (
            f"{self.edition}: of {format_count(self.listed, 'good article')} listed since the "
            f"window began {self.in_other_editions:,} are in other editions. "
            f"{format_count(self.fresh, 'article')} can be chosen, {self.leftovers:,} of them "
            f"left over from before the last edition's end: {enough}."
        )


async def count_choice(
    store: Warehouse,
    asked: CollectionRequest,
    settings: WikipediaSettings,
    now: datetime,
    on_message: Callable[[str], None],
) -> Choice:
    """List, date and measure candidates as a collection would, and count them. It goes on from
    what is collected, but stores nothing.

    Raises:
        EditionError: the edition could not be collected.
    """
    with TemporaryDirectory() as folder, open_warehouse(Path(folder) / "tried.duckdb") as tried:
        for model in (Edition, Collection, Candidate, ExcludedArticle):
            tried.write(Change(model, store.rows(model, "edition = $1", [asked.edition])))
        collection = begin_collection(tried, asked, settings, now)
        if collection.frozen_at:
            raise EditionError(
                f"{asked.edition} is frozen: `evergreen edition show {asked.edition}` shows what "
                "was chosen. Choose another name with --edition."
            )
        async with connect_wiki(settings, collection.api_url, on_message=on_message) as wiki:
            listed = await list_members(wiki, tried, collection, store)
            on_message(f"{listed:,} Good Articles were listed since the window began; dating them.")
            await date_members(wiki, tried, collection)
            for batch in find_pending_measurements(tried, asked.edition):
                await measure_batch(wiki, tried, collection, batch)
        excluded, fresh, leftovers = tried.frame(COUNTS).row(0)
    return Choice(
        asked.edition, listed, excluded, fresh, leftovers, collection.n_articles,
        min(settings.fewest_articles, collection.n_articles),
    )  # fmt: skip
