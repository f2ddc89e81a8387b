"""Collecting an edition's candidates: listed, dated, measured; each step goes on where it was.

Plain functions; the Prefect shells are in `tasks/candidates.py`. All that was asked of the wiki
is in the table `candidates` before the next thing is asked, so a killed run asks again only what
was under way, and the edition becomes the same.
"""

import asyncio
from collections.abc import Callable, Sequence

from tasks.collection.wiki import Wiki, wiki_of
from tasks.configuration.topics import category_of
from tasks.configuration.wikipedia import CollectionRules
from tasks.warehouse.collected import (
    Candidate,
    Collection,
    Decision,
)
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tasks.wikipedia.client import PAGES_AT_ONCE, batches
from tasks.wikipedia.listing import (
    FirstRevision,
    Looked,
    Member,
    Window,
    first_revision,
    look_inside,
    members_since,
)
from tasks.wikipedia.measures import Assessment, Measures, assess, measure_pages

DECIDED: dict[int, Decision] = {-1: "created_before", 1: "created_after"}
OnProgress = Callable[[int], None]
"""Told how many more are done."""


def rules_of(collection: Collection) -> CollectionRules:
    """The rules that were in force when the collection was begun."""
    return CollectionRules.model_validate_json(collection.rules)


async def list_members(warehouse: Warehouse, collection: Collection) -> int:
    """Every page of the category that may be of the window, as a candidate; how many."""
    if collection.n_members is not None:
        return collection.n_members
    wiki = wiki_of(warehouse)
    members = await members_since(wiki.api, collection.category, collection.created_since)
    candidates = [
        Candidate(
            edition=collection.edition,
            page_id=member.page_id,
            title=member.title,
            listed_at=member.listed_at,
        )
        for member in members
    ]
    listed = collection.model_copy(update={"n_members": len(members)})
    await warehouse.write_async(
        Change(Candidate, candidates, replacing={"edition": collection.edition}),
        Change(Collection, [listed]),
    )
    return len(members)


async def date_members(
    warehouse: Warehouse, collection: Collection, on_progress: OnProgress = lambda n: None
) -> int:
    """When the candidates that may be of the window were created; how many are of it.

    Every other one gets the reason why it is not.
    """
    candidates = warehouse.rows(Candidate, "edition = $1", [collection.edition])
    wiki = wiki_of(warehouse)
    window = Window(collection.created_since, collection.created_until)
    by_id = {candidate.page_id: candidate for candidate in candidates}

    async def ask(member: Member) -> FirstRevision | None:
        candidate = by_id[member.page_id]
        first = _known(candidate)
        if first is None and candidate.decision != "gone":
            first = await first_revision(wiki.api, member)
            await warehouse.write_async(Change(Candidate, [_dated(candidate, first, window)]))
        on_progress(1)
        return first

    members = [Member(c.page_id, c.title, c.listed_at) for c in candidates]
    looked = await look_inside(members, window, ask, rules_of(collection).margin)
    outside = [
        candidate.model_copy(update={"decision": _by_id(index, looked)})
        for index, candidate in enumerate(candidates)
        if candidate.page_id not in looked.first and candidate.decision is None
    ]
    await warehouse.write_async(Change(Candidate, outside))
    return sum(first is not None and window.place(first.at) == 0 for first in looked.first.values())


def unmeasured(warehouse: Warehouse, edition: str) -> list[list[Candidate]]:
    """Candidates of the window that are still to be measured, as many together as can be asked."""
    candidates = warehouse.rows(
        Candidate,
        "edition = $1 AND created_at IS NOT NULL AND decision IS NULL AND revision_id IS NULL",
        [edition],
    )
    return batches(candidates, PAGES_AT_ONCE)


async def measure(
    warehouse: Warehouse, collection: Collection, candidates: Sequence[Candidate]
) -> None:
    """What the choice rests on, for at most PAGES_AT_ONCE candidates."""
    wiki: Wiki = wiki_of(warehouse)
    rules = rules_of(collection)
    ids = [candidate.page_id for candidate in candidates]
    titles = [candidate.title for candidate in candidates]
    measures, assessments = await asyncio.gather(
        measure_pages(wiki.api, ids, collection.category, rules), assess(wiki.api, titles)
    )
    nothing = Assessment(None, None)
    await warehouse.write_async(
        Change(
            Candidate,
            [
                _measured(c, measures.get(c.page_id), assessments.get(c.title, nothing))
                for c in candidates
            ],
        )
    )


def _known(candidate: Candidate) -> FirstRevision | None:
    if candidate.created_at is None or candidate.first_revision_id is None:
        return None
    return FirstRevision(candidate.first_revision_id, candidate.created_at)


def _dated(candidate: Candidate, first: FirstRevision | None, window: Window) -> Candidate:
    if first is None:
        return candidate.model_copy(update={"decision": "gone"})
    return candidate.model_copy(
        update={
            "first_revision_id": first.revision_id,
            "created_at": first.at,
            "decision": DECIDED.get(window.place(first.at)),
        }
    )


def _by_id(index: int, looked: Looked) -> Decision:
    return "before_by_id" if index < looked.low else "after_by_id"


def _measured(candidate: Candidate, measures: Measures | None, assessment: Assessment) -> Candidate:
    if measures is None:
        return candidate.model_copy(update={"decision": "gone"})
    return candidate.model_copy(
        update={
            "url": measures.url,
            "revision_id": measures.revision_id,
            "revision_at": measures.revision_at,
            "bytes": measures.bytes,
            "words": measures.words,
            "reference_urls": measures.reference_urls,
            "headings": measures.headings,
            "links": measures.links,
            "topic": assessment.topic,
            "category": category_of(assessment.topic),
            "promoted_on": assessment.promoted_on,
            "decision": measures.unfit,
        }
    )
