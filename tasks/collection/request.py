"""Beginning a collection, under a name that nobody else has; and giving it up.

A collection that has begun keeps its window, size, wiki and rules: it can only be gone on with.
"""

import json
import re
from datetime import datetime

from pydantic import BaseModel, ConfigDict, PositiveInt

from tasks.benchmarks.errors import EditionError
from tasks.configuration.wikipedia import WikipediaSettings
from tasks.warehouse.collected import ArticleLink, ArticleRevision, Candidate, Collection
from tasks.warehouse.rows import Article
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""Editions name folders, and are typed."""
FORMULA_VERSION = "1"
"""Of the view `candidate_ranking`; raise it with the view."""


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
    """The collection as it was begun, now or earlier.

    As long as the wiki has not been listed it may be begun otherwise; then it never changes.

    Raises:
        EditionError: the name is another edition's or none, the address or window cannot be, or
            it was begun with other settings.
    """
    _check_possible(asked)
    begun = warehouse.rows(Collection, "edition = $1", [asked.edition])
    if begun and begun[0].n_members is not None:
        _check_same(begun[0], asked)
        return begun[0]
    if begun:
        asked = _filled(asked, begun[0])
    if warehouse.value("SELECT count(*) FROM editions WHERE edition = $1", [asked.edition]):
        raise EditionError(
            f"{asked.edition} was imported, not collected. Choose another name with --edition."
        )
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    until = asked.until or today
    since = asked.since or months_before(until, settings.window_months)
    if since >= until:
        raise EditionError(_empty_window(since, until))
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


def forget(warehouse: Warehouse, edition: str) -> None:
    """Remove a collection that is not frozen, with all that was collected for it.

    Raises:
        EditionError: there is none, or it is frozen.
    """
    begun = warehouse.rows(Collection, "edition = $1", [edition])
    if not begun or begun[0].frozen_at:
        raise EditionError(
            f"{edition!r} is {'frozen and stays' if begun else 'not being collected'}: "
            "`evergreen edition list` shows what there is."
        )
    warehouse.write(
        *(
            Change(model, [], replacing={"edition": edition})
            for model in (Collection, Candidate, Article, ArticleRevision, ArticleLink)
        )
    )


def months_before(day: datetime, months: int) -> datetime:
    """The same day so many months earlier; the month's last where it is shorter."""
    index = day.year * 12 + day.month - 1 - months
    for last in range(day.day, 27, -1):
        try:
            return day.replace(year=index // 12, month=index % 12 + 1, day=last)
        except ValueError:
            continue
    return day.replace(year=index // 12, month=index % 12 + 1)


def _check_possible(asked: CollectionRequest) -> None:
    if not NAME.fullmatch(asked.edition):
        raise EditionError(
            f"{asked.edition!r} cannot be an edition's name: expected 1 to 64 letters, digits, "
            "dots, hyphens and underscores, e.g. 2026-11."
        )
    if asked.api_url and not asked.api_url.startswith(("http://", "https://")):
        raise EditionError(
            f"--wiki-api {asked.api_url}: expected the address of a wiki's api.php, such as "
            "https://en.wikipedia.org/w/api.php."
        )
    if asked.since and asked.until and asked.since >= asked.until:
        raise EditionError(_empty_window(asked.since, asked.until))


def _filled(asked: CollectionRequest, begun: Collection) -> CollectionRequest:
    """What is asked now, and where it says nothing, what was asked before."""
    before = CollectionRequest(
        edition=begun.edition,
        since=begun.created_since,
        until=begun.created_until,
        articles=begun.n_articles,
        api_url=begun.api_url,
        spread=begun.spread,
    )
    return before.model_copy(update=asked.model_dump(exclude_none=True))


def _empty_window(since: datetime, until: datetime) -> str:
    return (
        f"The window is empty: from {since:%Y-%m-%d} to {until:%Y-%m-%d}. --from must come before "
        "--to."
    )


def _check_same(begun: Collection, asked: CollectionRequest) -> None:
    """Asked for by name alone, or exactly as it was begun."""
    differing = [
        f"{option} {value} (it has {known})"
        for option, value, known in (
            ("--from", _day(asked.since), _day(begun.created_since)),
            ("--to", _day(asked.until), _day(begun.created_until)),
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


def _day(moment: datetime | None) -> str | None:
    return f"{moment:%Y-%m-%d}" if moment else None
