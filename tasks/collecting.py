"""Collecting an edition's candidates: listed, dated, measured; each step goes on where it was.

Plain functions; the Prefect shells are in `tasks/candidates.py`. All that was asked of the wiki
is in the table `candidates` before the next thing is asked, so a killed run asks again only what
was under way, and the edition becomes the same.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from datetime import datetime

from pydantic import BaseModel, ConfigDict, PositiveInt

from tasks.configuration.topics import category_of
from tasks.configuration.wikipedia import CollectionRules, WikipediaSettings
from tasks.editions.errors import EditionError
from tasks.warehouse.collected import Candidate, Collection, Decision
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
from tasks.wikis import Wiki, wiki_of

FORMULA_VERSION = "1"
"""Of the view `candidate_ranking`; raise it with the view."""
DECIDED: dict[int, Decision] = {-1: "created_before", 1: "created_after"}
Follow = Callable[[int], None]
"""Told how many more are done."""


class CollectionRequest(BaseModel):
    """What somebody asked to be collected; None: the configured or the rolling default."""

    model_config = ConfigDict(frozen=True)

    edition: str
    since: datetime | None = None
    until: datetime | None = None
    articles: PositiveInt | None = None
    api_url: str | None = None
    spread: bool | None = None


def begin(
    warehouse: Warehouse, asked: CollectionRequest, settings: WikipediaSettings, now: datetime
) -> Collection:
    """The collection as it was begun, now or earlier; what it is made of never changes.

    Raises:
        EditionError: the name is another edition's, or it was begun with other settings.
    """
    begun = warehouse.rows(Collection, "edition = $1", [asked.edition])
    if begun:
        _check_same(begun[0], asked)
        return begun[0]
    if warehouse.value("SELECT count(*) FROM editions WHERE edition = $1", [asked.edition]):
        raise EditionError(
            f"{asked.edition} was imported, not collected. Choose another name with --edition."
        )
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    until = asked.until or today
    since = asked.since or months_before(until, settings.window_months)
    if since >= until:
        raise EditionError(
            f"The window is empty: from {since:%Y-%m-%d} to {until:%Y-%m-%d}. --from must come "
            "before --to."
        )
    if until > now:
        raise EditionError(
            f"The window ends on {until:%Y-%m-%d}, which is not over yet: what is created until "
            "then would be missing. Choose an earlier --to."
        )
    collection = Collection(
        edition=asked.edition,
        api_url=asked.api_url or settings.api_url,
        category=settings.good_articles,
        created_since=since,
        created_until=until,
        n_articles=asked.articles or settings.articles,
        spread=bool(asked.spread),
        rules=json.dumps(settings.rules.model_dump(mode="json"), sort_keys=True),
        formula_version=FORMULA_VERSION,
        begun_at=now,
    )
    warehouse.write(Change(Collection, [collection]))
    return collection


def months_before(day: datetime, months: int) -> datetime:
    """The same day so many months earlier; the month's last where it is shorter."""
    index = day.year * 12 + day.month - 1 - months
    for last in range(day.day, 27, -1):
        try:
            return day.replace(year=index // 12, month=index % 12 + 1, day=last)
        except ValueError:
            continue
    return day.replace(year=index // 12, month=index % 12 + 1)


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
    warehouse: Warehouse, collection: Collection, follow: Follow = lambda n: None
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
        follow(1)
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


def _check_same(begun: Collection, asked: CollectionRequest) -> None:
    """Asked for by name alone, or exactly as it was begun."""
    differing = [
        f"{option} {value} (it has {known})"
        for option, value, known in (
            ("--from", asked.since, begun.created_since),
            ("--to", asked.until, begun.created_until),
            ("--articles", asked.articles, begun.n_articles),
            ("--wiki-api", asked.api_url, begun.api_url),
            ("--spread", asked.spread, begun.spread),
        )
        if value is not None and value != known
    ]
    if differing:
        raise EditionError(
            f"{begun.edition} was begun at {begun.begun_at:%Y-%m-%d %H:%M} UTC with other "
            f"settings: {', '.join(differing)}. An edition never changes: leave these options "
            "out, or choose another name."
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
