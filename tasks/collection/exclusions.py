"""Leave out what other editions have: an article is in one edition only.

The list is stored when the wiki is listed, and again only if another edition is frozen while this
one is collected. The manifest names it, so the choice can be redone without the warehouse.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from tasks.base import Frozen
from tasks.benchmarks.errors import EditionError
from tasks.collection.wiki import Wiki
from tasks.configuration.wikipedia import ExcludedManifest
from tasks.editions.manifest import hash_manifest, names_exclusions
from tasks.warehouse.rows import BigInt, UtcDatetime
from tasks.warehouse.store import Warehouse
from tasks.warehouse.wiki_editions import Candidate, Collection, ExcludedArticle
from tasks.warehouse.writer import Change
from tasks.wikipedia.client import split_batches

OTHERS = """
SELECT a.edition AS origin, c.manifest_sha AS origin_sha, a.page_id, a.title
FROM articles AS a LEFT JOIN collections AS c USING (edition)
WHERE a.edition <> $1 AND CASE WHEN c.edition IS NULL THEN split_part(a.url, '/', 3) = $3
    ELSE c.api_url = $2 AND c.frozen_at IS NOT NULL AND c.trial IS NOT TRUE END
ORDER BY ALL
"""
"""Articles of the wiki in other editions: frozen ones that count, and imported ones, whose articles
have no page id."""
LAST_END = """
SELECT max(created_until) FROM collections
WHERE edition <> $1 AND api_url = $2 AND frozen_at IS NOT NULL AND trial IS NOT TRUE
    AND created_until < $3
"""


class _NamedArticle(Frozen):
    title: str
    page_id: BigInt | None = None


class _NamedManifest(Frozen):
    """What is read of another's manifest."""

    wiki: str
    created: tuple[UtcDatetime, UtcDatetime]
    articles: tuple[_NamedArticle, ...]


async def find_exclusions(
    source: Warehouse, collection: Collection, wiki: Wiki
) -> tuple[list[ExcludedArticle], datetime | None]:
    """Return the articles to leave out, and the end of the last edition's window; nothing for a
    trial.

    Args:
        source: The warehouse with the other editions.

    Raises:
        EditionError: a manifest in `exclude` cannot be read, or is not the one of its hash.
    """
    if collection.trial:
        return [], None
    found = _load_others(source, collection)
    end = source.value(LAST_END, [collection.edition, collection.api_url, collection.created_until])
    ends = [end.replace(tzinfo=UTC)] if end else []
    for entry in wiki.settings.exclude:
        manifest = await _load_manifest(entry, wiki)
        if manifest.wiki != collection.api_url:
            continue
        found += [
            ExcludedArticle(
                edition=collection.edition, origin=entry.manifest, origin_sha=entry.sha256,
                title=article.title, page_id=article.page_id,
            )
            for article in manifest.articles
        ]  # fmt: skip
        ends.append(manifest.created[1])
    earlier = [end for end in ends if end < collection.created_until]
    return found, max(earlier, default=None)


async def follow_titles(
    excluded: Sequence[ExcludedArticle], candidates: Iterable[Candidate], wiki: Wiki
) -> list[ExcludedArticle]:
    """Return the list with the page that a title leads to today where its page is no candidate:
    imported articles have no page id, and a page may have been merged or made anew."""
    ids = {candidate.page_id for candidate in candidates}
    found: dict[str, int] = {}
    for batch in split_batches(sorted({r.title for r in excluded if r.page_id not in ids})):
        pages = await wiki.api.fetch_by_title(batch, prop="info")
        found |= {title: page["pageid"] for title, page in pages.items() if "pageid" in page}
    return [
        row
        if row.page_id in ids
        else row.model_copy(update={"page_id": found.get(row.title, row.page_id)})
        for row in excluded
    ]


def exclude_newly_frozen(warehouse: Warehouse, collection: Collection) -> None:
    """Leave out also what editions have that were frozen since the list was made."""
    if collection.trial or not names_exclusions(collection):
        return
    mine = "edition = $1"
    listed = warehouse.rows(ExcludedArticle, mine, [collection.edition])
    origins = {row.origin for row in listed}
    new = [row for row in _load_others(warehouse, collection) if row.origin not in origins]
    if new:
        candidates = warehouse.rows(Candidate, mine, [collection.edition])
        marked = mark_excluded(candidates, new)
        warehouse.write(Change(ExcludedArticle, new), Change(Candidate, marked))


def mark_excluded(
    candidates: Iterable[Candidate], excluded: Sequence[ExcludedArticle]
) -> list[Candidate]:
    """Return those candidates whose pages, or titles without a page, are in the list, with this
    decision."""
    ids = {row.page_id for row in excluded}
    titles = {row.title for row in excluded if row.page_id is None}
    return [
        candidate.model_copy(update={"decision": "in_other_edition"})
        for candidate in candidates
        if candidate.page_id in ids or candidate.title in titles
    ]


def _load_others(source: Warehouse, collection: Collection) -> list[ExcludedArticle]:
    host = urlsplit(collection.api_url).netloc
    rows = source.frame(OTHERS, [collection.edition, collection.api_url, host]).to_dicts()
    return [ExcludedArticle(edition=collection.edition, **row) for row in rows]


async def _load_manifest(entry: ExcludedManifest, wiki: Wiki) -> _NamedManifest:
    where = f"configs/wikipedia.yaml, `exclude`: {entry.manifest}"
    try:
        if entry.manifest.startswith(("http://", "https://")):
            document: Any = await wiki.client.fetch_json(entry.manifest)
        else:
            file = Path(entry.manifest)  # small, and nothing else is under way
            document = json.loads(file.read_text("utf-8"))  # noqa: ASYNC240
        sha = hash_manifest(json.dumps(document))
        manifest = _NamedManifest.model_validate(document, extra="ignore")
    except OSError as error:
        raise EditionError(f"{where}: {error.strerror or error}") from None
    except (ValueError, AttributeError, TypeError, RecursionError, ValidationError):
        raise EditionError(
            f"{where}: expected an edition's manifest, as `evergreen edition show EDITION --format "
            "json` prints it."
        ) from None
    if sha != entry.sha256:
        raise EditionError(
            f"{where}: its hash is {sha}, not {entry.sha256}. Compare it with its publisher's, "
            "and correct `sha256` or the file."
        )
    return manifest
