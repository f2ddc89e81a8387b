"""Begin a collection under a new name, or discard it.

A collection keeps its window, size, wiki and rules: it can only be continued.
"""

import json
import re
from datetime import datetime

from pydantic import PositiveInt

from tasks.base import Frozen
from tasks.benchmarks.errors import EditionError
from tasks.configuration.wikipedia import WikipediaSettings
from tasks.credentials import refuse_credentials
from tasks.warehouse.rows import Article, UtcDatetime
from tasks.warehouse.store import Warehouse
from tasks.warehouse.wiki_editions import (
    ArticleLink,
    ArticleRevision,
    Candidate,
    Collection,
    ExcludedArticle,
)
from tasks.warehouse.writer import Change

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""Names of editions, which also name folders and are typed by people."""
FORMULA_VERSION = "2"
"""Version of the choice: of the view `candidate_ranking`, which keeps the earlier ones, and of what
is left out before it. 2: articles of other editions are, and unknown categories take no turns."""


class CollectionRequest(Frozen):
    """The collection that a person asks for; None stands for the default."""

    edition: str
    since: UtcDatetime | None = None
    until: UtcDatetime | None = None
    articles: PositiveInt | None = None
    api_url: str | None = None
    spread: bool | None = None
    trial: bool | None = None


def begin_collection(
    warehouse: Warehouse, request: CollectionRequest, settings: WikipediaSettings, now: datetime
) -> Collection:
    """Begin a collection, or return the one that was begun under this name.

    Its settings can change until the wiki has been listed, never after.

    Raises:
        EditionError: the name is invalid or taken, the URL or window is invalid, or the
            collection was begun with other settings.
    """
    refuse_credentials(request.api_url or "", "--wiki-api", None)
    _check_possible(request)
    begun = warehouse.rows(Collection, "edition = $1", [request.edition])
    if begun and begun[0].n_members is not None:
        _check_same(begun[0], request)
        return begun[0]
    if begun:
        request = _fill_from(request, begun[0])
    if warehouse.value("SELECT count(*) FROM editions WHERE edition = $1", [request.edition]):
        raise EditionError(
            f"{request.edition} was imported, not collected. Choose another name with --edition."
        )
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    until = request.until or today
    since = request.since or months_before(until, settings.window_months)
    if since >= until:
        raise EditionError(_describe_empty_window(since, until))
    if until > now:
        raise EditionError(
            f"The window ends on {until:%Y-%m-%d}, which is not over yet: what is created until "
            "then would be missing. Choose an earlier --until."
        )
    collection = Collection(
        edition=request.edition,
        api_url=request.api_url or settings.api_url,
        category=settings.good_articles,
        created_since=since,
        created_until=until,
        n_articles=request.articles or settings.articles,
        spread=bool(request.spread),
        trial=bool(request.trial),
        rules=json.dumps(settings.rules.model_dump(mode="json"), sort_keys=True),
        formula_version=FORMULA_VERSION,
        begun_at=now,
    )
    warehouse.write(Change(Collection, [collection]))
    return collection


def forget_collection(warehouse: Warehouse, edition: str) -> None:
    """Remove a collection that is not frozen, with everything collected for it.

    Raises:
        EditionError: there is no such collection, or it is frozen.
    """
    begun = warehouse.rows(Collection, "edition = $1", [edition])
    if not begun or begun[0].frozen_at:
        raise EditionError(
            f"{edition!r} is {'frozen and stays' if begun else 'not being collected'}: "
            "`evergreen edition list` shows what there is."
        )
    models = (Collection, Candidate, ExcludedArticle, Article, ArticleRevision, ArticleLink)
    warehouse.write(*(Change(model, [], replacing={"edition": edition}) for model in models))


def months_before(day: datetime, months: int) -> datetime:
    """Return the same day so many months earlier, or that month's last day."""
    index = day.year * 12 + day.month - 1 - months
    for last in range(day.day, 27, -1):
        try:
            return day.replace(year=index // 12, month=index % 12 + 1, day=last)
        except ValueError:
            continue
    return day.replace(year=index // 12, month=index % 12 + 1)


def _check_possible(request: CollectionRequest) -> None:
    if not NAME.fullmatch(request.edition):
        raise EditionError(
            f"{request.edition!r} cannot be an edition's name: expected 1 to 64 letters, digits, "
            "dots, hyphens and underscores, e.g. 2026-11."
        )
    if request.api_url and not request.api_url.startswith(("http://", "https://")):
        raise EditionError(
            f"--wiki-api {request.api_url}: expected the address of a wiki's api.php, such as "
            "https://en.wikipedia.org/w/api.php."
        )
    if request.since and request.until and request.since >= request.until:
        raise EditionError(_describe_empty_window(request.since, request.until))


def _fill_from(request: CollectionRequest, begun: Collection) -> CollectionRequest:
    """Fill in what a request leaves open with the settings of the collection."""
    before = CollectionRequest(
        edition=begun.edition,
        since=begun.created_since,
        until=begun.created_until,
        articles=begun.n_articles,
        api_url=begun.api_url,
        spread=begun.spread,
        trial=bool(begun.trial),
    )
    return before.model_copy(update=request.model_dump(exclude_none=True))


def _describe_empty_window(since: datetime, until: datetime) -> str:
    return (
        f"The window is empty: from {since:%Y-%m-%d} to {until:%Y-%m-%d}. --since must come before "
        "--until."
    )


def _check_same(begun: Collection, request: CollectionRequest) -> None:
    """Raise an error if a request differs from the settings of the collection."""
    differing = [
        f"{option} {value} (it has {known})"
        for option, value, known in (
            ("--since", _format_day(request.since), _format_day(begun.created_since)),
            ("--until", _format_day(request.until), _format_day(begun.created_until)),
            ("--articles", request.articles, begun.n_articles),
            ("--wiki-api", request.api_url, begun.api_url),
            ("--spread", request.spread, begun.spread),
            ("--not-counted", request.trial, bool(begun.trial)),
        )
        if value is not None and value != known
    ]
    if differing:
        raise EditionError(
            f"{begun.edition} was begun at {begun.begun_at:%Y-%m-%d %H:%M} UTC with other "
            f"settings: {', '.join(differing)}. An edition never changes: leave these options "
            "out, or choose another name."
        )


def _format_day(moment: datetime | None) -> str | None:
    return f"{moment:%Y-%m-%d}" if moment else None
