"""The manifest of a frozen edition: build, hash, verify and compare it.

The hash excludes times and the names of editions, so an edition made twice from the same wiki, with
the same articles left out, has the same hash.
"""

import json
from collections.abc import Sequence
from typing import Any

from tasks.benchmarks.errors import EditionError
from tasks.editions.names import list_editions
from tasks.errors import suggest_names
from tasks.warehouse.rows import Article, canonical_json, content_sha
from tasks.warehouse.store import Readable, Warehouse
from tasks.warehouse.wiki_editions import (
    ArticleLink,
    ArticleRevision,
    Candidate,
    Collection,
    ExcludedArticle,
)
from tasks.wikipedia.markdown import CONVERTER_VERSION, to_markdown

MADE = "made"
"""The part of a manifest that its hash excludes."""
RANKED_BY = {"page_id", "reference_urls", "headings", "bytes", "category"}
"""What candidates are ranked by."""
LEFTOVERS = "SELECT page_id FROM candidate_ranking WHERE edition = $1 AND is_leftover"
COLUMNS_OF_RULES = {"maintenance_tags": "not_maintenance"}
"""Column of candidates → the rule that it came with. A manifest covers it if its rules have it, so
that editions frozen before stay what they were."""


def build_manifest(warehouse: Warehouse, collection: Collection) -> str:
    """Build the manifest from the current tables, as JSON with sorted keys."""
    edition = collection.edition
    articles = warehouse.rows(Article, "edition = $1", [edition])
    revisions = {
        row.article: row for row in warehouse.rows(ArticleRevision, "edition = $1", [edition])
    }
    links: dict[str, list[ArticleLink]] = {}
    for link in warehouse.rows(ArticleLink, "edition = $1", [edition]):
        links.setdefault(link.article, []).append(link)
    candidates = warehouse.rows(Candidate, "edition = $1", [edition])
    rules = json.loads(collection.rules)
    left_out = {"edition"} | {name for name, rule in COLUMNS_OF_RULES.items() if rule not in rules}
    document = {
        "wiki": collection.api_url,
        "category": collection.category,
        "created": [collection.created_since.isoformat(), collection.created_until.isoformat()],
        "n_articles": collection.n_articles,
        "spread": collection.spread,
        "rules": rules,
        "formula_version": collection.formula_version,
        "candidates": {
            "n": len(candidates),
            "sha": content_sha(
                *(canonical_json(c.model_dump(mode="json", exclude=left_out)) for c in candidates)
            ),
        },
        "articles": [
            _build_article_entry(
                article, revisions.get(article.article), links.get(article.article, [])
            )
            for article in articles
        ],
        MADE: {
            "edition": edition,
            "snapshot_at": collection.begun_at.isoformat(),
        },
    }
    if names_exclusions(collection):
        _add_choice(document, warehouse, collection, candidates)
    return canonical_json(document)


def names_exclusions(collection: Collection) -> bool:
    """Whether other editions' articles are left out, and named in the manifest: since formula 2."""
    return int(collection.formula_version) >= 2


def _add_choice(
    document: dict[str, Any],
    warehouse: Warehouse,
    collection: Collection,
    candidates: Sequence[Candidate],
) -> None:
    """Add what the choice can be redone from: what was left out, and what was ranked."""
    excluded = warehouse.rows(ExcludedArticle, "edition = $1", [collection.edition])
    leftovers = warehouse.frame(LEFTOVERS, [collection.edition])["page_id"].to_list()
    last = collection.last_until
    document |= {
        "trial": bool(collection.trial),
        "last_until": last.isoformat() if last else None,
        "excluded": sorted({(r.page_id or 0, r.title) for r in excluded}),
        "ranked": [c.model_dump(mode="json", include=RANKED_BY) for c in candidates
                   if c.decision in ("chosen", "outranked")],
    }  # fmt: skip
    document[MADE]["excluded_editions"] = {r.origin: r.origin_sha for r in excluded}
    for entry in document["articles"]:
        entry["is_leftover"] = entry["page_id"] in leftovers


def hash_manifest(manifest: str) -> str:
    """Return the sha-256 of a manifest without its MADE part."""
    document = json.loads(manifest)
    document.pop(MADE, None)
    return content_sha(canonical_json(document))


def find_changes(warehouse: Warehouse, edition: str) -> list[str]:
    """Return how an edition has changed since it was frozen; empty if it has not.

    Raises:
        EditionError: it is not a frozen edition.
    """
    collection = load_frozen_collection(warehouse, edition)
    assert collection.manifest is not None  # frozen
    problems = []
    if hash_manifest(collection.manifest) != collection.manifest_sha:
        problems.append("the stored manifest does not match its stored hash")
    now = build_manifest(warehouse, collection)
    problems += compare_manifests(json.loads(collection.manifest), json.loads(now))
    for revision in warehouse.rows(ArticleRevision, "edition = $1", [edition]):
        problems += _find_damage(warehouse, revision)
    return problems


def confirm_unchanged(warehouse: Warehouse, collection: Collection) -> str:
    """Compare a frozen edition with its manifest; return the message that it is unchanged.

    Raises:
        EditionError: it has changed since it was frozen.
    """
    edition, at = collection.edition, f"{collection.frozen_at:%Y-%m-%d %H:%M} UTC"
    if problems := find_changes(warehouse, edition):
        listed = "\n  ".join(problems[:20])
        raise EditionError(
            f"{edition} has changed since it was frozen at {at}:\n"
            f"  {listed}\nRestore the warehouse from a copy, or collect under another name."
        )
    return f"{edition} was frozen at {at} and is unchanged: manifest {collection.manifest_sha}."


def load_frozen_collection(source: Warehouse, edition: str) -> Collection:
    """Load the collection of a frozen edition.

    Raises:
        EditionError: it was not collected from a wiki, or is not frozen yet.
    """
    found = source.rows(Collection, "edition = $1", [edition])
    if not found or found[0].manifest is None:
        raise _explain_unfrozen(source, edition)
    return found[0]


def check_not_collected(warehouse: Warehouse, edition: str) -> None:
    """Raise EditionError if an edition was collected, since imports must not change it."""
    if warehouse.value("SELECT count(*) FROM collections WHERE edition = $1", [edition]):
        raise EditionError(
            f"{edition} was collected from a wiki and never changes. Import under another name, "
            "with --edition."
        )


def load_edition_manifest(source: Readable, edition: str) -> dict[str, Any]:
    """Load a frozen edition's manifest, from the warehouse or a snapshot.

    Raises:
        EditionError: there is none.
    """
    found = source.frame(
        "SELECT manifest FROM collections WHERE edition = $1 AND manifest IS NOT NULL", [edition]
    )
    if found.is_empty():
        raise _explain_unfrozen(source, edition)
    document: dict[str, Any] = json.loads(found.item())
    return document


def _explain_unfrozen(source: Readable, edition: str) -> EditionError:
    """Return the error that an edition has no manifest."""
    if edition in list_editions(source):
        return EditionError(
            f"{edition} was imported, not collected from a wiki, so it has no manifest. "
            f"`evergreen status --edition {edition}` counts what it has; `evergreen sql "
            '"SELECT edition, title, url FROM articles"` lists the articles.'
        )
    begun = source.frame("SELECT edition FROM collections ORDER BY edition")["edition"].to_list()
    if edition in begun:
        return EditionError(
            f"{edition} is not frozen yet: run `evergreen collect --edition {edition}` to the end."
        )
    return EditionError(
        f"There is no edition {edition!r}. "
        f"{suggest_names(edition, [*begun, *list_editions(source)])} `evergreen collect` makes one."
    )


def compare_manifests(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Describe the differences between two manifests, ignoring their MADE parts."""
    found = [
        f"{name}: {_shorten(one.get(name))} became {_shorten(other.get(name))}"
        for name in sorted((one.keys() | other.keys()) - {MADE, "articles"})
        if one.get(name) != other.get(name)
    ]
    first = {entry["article"]: entry for entry in one["articles"]}
    second = {entry["article"]: entry for entry in other["articles"]}
    found += [f"{name}: only in the first" for name in sorted(first.keys() - second.keys())]
    found += [f"{name}: only in the second" for name in sorted(second.keys() - first.keys())]
    for name in sorted(first.keys() & second.keys()):
        changed = [
            f"{field} {_shorten(first[name].get(field))} became {_shorten(second[name].get(field))}"
            for field in sorted(first[name].keys() | second[name].keys())
            if first[name].get(field) != second[name].get(field)
        ]
        if changed:
            found.append(f"{name}: {'; '.join(changed)}")
    return found


def _build_article_entry(
    article: Article, revision: ArticleRevision | None, links: list[ArticleLink]
) -> dict[str, Any]:
    """Build an article's entry; only articles from outside have no revision."""
    made_from = (
        revision.model_dump(mode="json", exclude={"edition", "html", "retrieved_at"})
        if revision
        else {"revision_id": None}
    )
    return {
        **article.model_dump(mode="json", exclude={"edition", "text", "text_sha"}),
        **made_from,
        "n_links": len(links),
        "links_sha": content_sha(
            *(f"{link.url} {link.raw_url} {link.archive_url}" for link in links)
        ),
    }


def _find_damage(warehouse: Warehouse, revision: ArticleRevision) -> list[str]:
    """Return problems with an article's HTML and text: wrong hashes, a changed conversion."""
    name = revision.article
    found = warehouse.rows(Article, "edition = $1 AND article = $2", [revision.edition, name])
    if not found:
        return [f"{name}: its text is missing"]
    text = found[0].text
    problems = []
    if content_sha(revision.html) != revision.html_sha:
        problems.append(f"{name}: its HTML does not match its hash")
    if content_sha(text) != revision.text_sha:
        problems.append(f"{name}: its text does not match its hash")
    elif (
        revision.converter_version == str(CONVERTER_VERSION)
        and to_markdown(revision.html, found[0].title) != text
    ):
        problems.append(f"{name}: its HTML converts to another text now")
    return problems


def _shorten(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
