"""List, date and measure an edition's candidates; each step continues where it stopped. Or count
what could be chosen from them, without beginning a collection.

Plain functions; the Prefect tasks are in `tasks/candidates.py`. Every answer of the wiki is in the
table `candidates` before the next request, so after a killed run only requests under way are
repeated, and the edition becomes the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tasks.base import format_count
from tasks.benchmarks.errors import EditionError
from tasks.collection.exclusions import find_exclusions, follow_titles, mark_excluded
from tasks.collection.request import CollectionRequest, begin_collection
from tasks.collection.wiki import Wiki, connect_wiki
from tasks.configuration.wikipedia import CollectionRules, WikipediaSettings, find_category
from tasks.warehouse.rows import Edition
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.wiki_editions import Candidate, CandidateDecision, Collection, ExcludedArticle
from tasks.warehouse.writer import Change
from tasks.wikipedia.client import PAGES_AT_ONCE, split_batches
from tasks.wikipedia.listing import (
    CategoryMember,
    FirstRevision,
    Window,
    fetch_first_revision,
    fetch_members,
    find_first_revisions,
)
from tasks.wikipedia.measures import Assessment, Measures, fetch_assessments, measure_pages

WINDOW_DECISIONS: dict[int, CandidateDecision] = {-1: "created_before", 1: "created_after"}
OnProgress = Callable[[int], None]
"""Called with the number of members just done."""
COUNTS = """
SELECT (SELECT count(*) FROM candidates WHERE decision = 'in_other_edition'), count(*),
    count(*) FILTER (is_leftover)
FROM candidate_ranking
"""


def load_rules(collection: Collection) -> CollectionRules:
    """Return the rules in force when the collection was begun."""
    return CollectionRules.model_validate_json(collection.rules)


async def list_members(
    wiki: Wiki, warehouse: Warehouse, collection: Collection, others: Warehouse | None = None
) -> int:
    """Store every page of the category that may be in the window as a candidate; count them. Those
    of other editions are left out.

    Args:
        others: The warehouse with the other editions; the same if None.
    """
    if collection.n_members is not None:
        return collection.n_members
    excluded, last_until = await find_exclusions(others or warehouse, collection, wiki)
    members = await fetch_members(wiki.api, collection.category, collection.created_since)
    candidates = [
        Candidate(
            edition=collection.edition,
            page_id=member.page_id,
            title=member.title,
            listed_at=member.listed_at,
        )
        for member in members
    ]
    excluded = await follow_titles(excluded, candidates, wiki)
    listed = collection.model_copy(update={"n_members": len(members), "last_until": last_until})
    mine = {"edition": collection.edition}
    left_out = {candidate.page_id: candidate for candidate in mark_excluded(candidates, excluded)}
    await warehouse.write_async(
        Change(Candidate, [left_out.get(c.page_id, c) for c in candidates], replacing=mine),
        Change(ExcludedArticle, excluded, replacing=mine),
        Change(Collection, [listed]),
    )
    return len(members)


async def date_members(
    wiki: Wiki,
    warehouse: Warehouse,
    collection: Collection,
    on_progress: OnProgress = lambda n: None,
) -> int:
    """Date the candidates that may be in the window; count those that are.

    All others get the reason why they are not.
    """
    candidates = warehouse.rows(
        Candidate,
        "edition = $1 AND decision IS DISTINCT FROM 'in_other_edition'",
        [collection.edition],
    )
    window = Window(collection.created_since, collection.created_until)
    by_id = {candidate.page_id: candidate for candidate in candidates}

    async def ask(member: CategoryMember) -> FirstRevision | None:
        candidate = by_id[member.page_id]
        first = None
        if candidate.created_at is not None and candidate.first_revision_id is not None:
            first = FirstRevision(candidate.first_revision_id, candidate.created_at)
        if first is None and candidate.decision != "gone":
            first = await fetch_first_revision(wiki.api, member)
            dated_candidate = _add_first_revision(candidate, first, window)
            await warehouse.write_async(Change(Candidate, [dated_candidate]))
        on_progress(1)
        return first

    members = [CategoryMember(c.page_id, c.title, c.listed_at) for c in candidates]
    dated = await find_first_revisions(members, window, ask, load_rules(collection).margin)
    outside = [
        candidate.model_copy(
            update={"decision": "before_by_id" if index < dated.low else "after_by_id"}
        )
        for index, candidate in enumerate(candidates)
        if candidate.page_id not in dated.first and candidate.decision is None
    ]
    await warehouse.write_async(Change(Candidate, outside))
    found = [first for first in dated.first.values() if first is not None]
    return sum(window.position(first.at) == 0 for first in found)


def find_pending_measurements(warehouse: Warehouse, edition: str) -> list[list[Candidate]]:
    """Return the window's candidates that have not been measured, in batches for one request."""
    candidates = warehouse.rows(
        Candidate,
        "edition = $1 AND created_at IS NOT NULL AND decision IS NULL AND revision_id IS NULL",
        [edition],
    )
    return split_batches(candidates, PAGES_AT_ONCE)


async def measure_batch(
    wiki: Wiki, warehouse: Warehouse, collection: Collection, candidates: Sequence[Candidate]
) -> None:
    """Measure at most PAGES_AT_ONCE candidates."""
    rules = load_rules(collection)
    ids = [candidate.page_id for candidate in candidates]
    measures = await measure_pages(wiki.api, ids, collection.category, rules)
    # A page may have moved since it was listed: its talk page has the title of this moment.
    titles = [page.title for page in measures.values()]
    assessments = await fetch_assessments(wiki.api, titles, rules)
    nothing = Assessment(None, None)
    await warehouse.write_async(
        Change(
            Candidate,
            [
                _add_measures(c, page, assessments.get(page.title, nothing) if page else nothing)
                for c in candidates
                for page in [measures.get(c.page_id)]
            ],
        )
    )


def _add_first_revision(
    candidate: Candidate, first: FirstRevision | None, window: Window
) -> Candidate:
    if first is None:
        return candidate.model_copy(update={"decision": "gone"})
    return candidate.model_copy(
        update={
            "first_revision_id": first.revision_id,
            "created_at": first.at,
            "decision": WINDOW_DECISIONS.get(window.position(first.at)),
        }
    )


def _add_measures(
    candidate: Candidate, measures: Measures | None, assessment: Assessment
) -> Candidate:
    if measures is None:
        return candidate.model_copy(update={"decision": "gone"})
    found = asdict(measures) | asdict(assessment)
    exclusion, reassessed = found.pop("exclusion"), found.pop("under_reassessment")
    return candidate.model_copy(
        update={
            **found,
            "decision": exclusion or ("under_reassessment" if reassessed else None),
            "category": find_category(assessment.topic),
        }
    )


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
