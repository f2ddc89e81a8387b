"""What a frozen edition consists of, as one document with one hash; verified and compared.

The hash covers everything but what says when and under which name it was made, so an edition
made twice from the same wiki has the same hash.
"""

import json
from typing import Any

from tasks.benchmarks.errors import EditionError
from tasks.warehouse.collected import ArticleLink, ArticleRevision, Candidate, Collection
from tasks.warehouse.rows import Article, canonical_json, content_sha
from tasks.warehouse.store import Readable, Warehouse
from tasks.wikipedia.markdown import CONVERTER_VERSION, to_markdown

MADE = "made"
"""The part of a manifest that its hash leaves out."""
DATES = ("created_at", "promoted_on")


def manifest_of(warehouse: Warehouse, collection: Collection) -> str:
    """The manifest as the tables have it now, as JSON with sorted keys."""
    edition = collection.edition
    articles = warehouse.rows(Article, "edition = $1", [edition])
    revisions = {
        row.article: row for row in warehouse.rows(ArticleRevision, "edition = $1", [edition])
    }
    links: dict[str, list[ArticleLink]] = {}
    for link in warehouse.rows(ArticleLink, "edition = $1", [edition]):
        links.setdefault(link.article, []).append(link)
    candidates = warehouse.rows(Candidate, "edition = $1", [edition])
    document = {
        "wiki": collection.api_url,
        "category": collection.category,
        "created": [collection.created_since.isoformat(), collection.created_until.isoformat()],
        "n_articles": collection.n_articles,
        "spread": collection.spread,
        "rules": json.loads(collection.rules),
        "formula_version": collection.formula_version,
        "candidates": {
            "n": len(candidates),
            "sha": content_sha(*(canonical_json(c.model_dump(mode="json", exclude={"edition"}))
                                 for c in candidates)),
        },
        "articles": [
            _article_entry(
                article, revisions.get(article.article), links.get(article.article, [])
            )
            for article in articles
        ],
        MADE: {
            "edition": edition,
            "snapshot_at": collection.begun_at.isoformat(),
        },
    }  # fmt: skip
    return canonical_json(document)


def manifest_sha(manifest: str) -> str:
    """Sha-256 over everything but when and as what it was made."""
    document = json.loads(manifest)
    document.pop(MADE, None)
    return content_sha(canonical_json(document))


def verify(warehouse: Warehouse, edition: str) -> list[str]:
    """What is no longer as it was frozen; nothing if all is.

    Raises:
        EditionError: it is not a frozen edition.
    """
    collection = frozen(warehouse, edition)
    assert collection.manifest is not None  # frozen
    problems = []
    if manifest_sha(collection.manifest) != collection.manifest_sha:
        problems.append("the stored manifest does not have the hash that is stored beside it")
    now = manifest_of(warehouse, collection)
    problems += differences(json.loads(collection.manifest), json.loads(now))
    for revision in warehouse.rows(ArticleRevision, "edition = $1", [edition]):
        problems += _spoilt(warehouse, revision)
    return problems


def unchanged_message(warehouse: Warehouse, collection: Collection) -> str:
    """What is said of a frozen edition, which never changes: it is compared with its manifest.

    Raises:
        EditionError: it is not as it was frozen.
    """
    edition, at = collection.edition, f"{collection.frozen_at:%Y-%m-%d %H:%M} UTC"
    if problems := verify(warehouse, edition):
        listed = "\n  ".join(problems[:20])
        raise EditionError(
            f"{edition} is not as it was frozen at {at}:\n"
            f"  {listed}\nRestore the warehouse from a copy, or collect under another name."
        )
    return f"{edition} was frozen at {at} and is unchanged: manifest {collection.manifest_sha}."


def frozen(source: Warehouse, edition: str) -> Collection:
    """The collection of a frozen edition.

    Raises:
        EditionError: it was not collected, or is not frozen yet.
    """
    found = source.rows(Collection, "edition = $1", [edition])
    if not found:
        known = source.frame("SELECT edition FROM collections ORDER BY edition")["edition"]
        raise EditionError(
            f"{edition!r} is not an edition that was collected from a wiki; there are: "
            f"{', '.join(known.to_list()) or 'none yet'}. `evergreen collect` makes one."
        )
    if found[0].manifest is None:
        raise EditionError(
            f"{edition} is not frozen yet: run `evergreen collect --edition {edition}` to the end."
        )
    return found[0]


def refuse_collected(warehouse: Warehouse, edition: str) -> None:
    """Raise EditionError if a name is that of a collected edition: nothing is imported over it."""
    if warehouse.value("SELECT count(*) FROM collections WHERE edition = $1", [edition]):
        raise EditionError(
            f"{edition} was collected from a wiki and never changes. Import under another name, "
            "with --edition."
        )


def stored_manifest(source: Readable, edition: str) -> dict[str, Any]:
    """A frozen edition's manifest, also from a snapshot.

    Raises:
        EditionError: there is none.
    """
    found = source.frame(
        "SELECT manifest FROM collections WHERE edition = $1 AND manifest IS NOT NULL", [edition]
    )
    if found.is_empty():
        raise EditionError(
            f"There is no frozen edition {edition!r}; `evergreen edition list` shows what there is."
        )
    document: dict[str, Any] = json.loads(found.item())
    return document


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """In words, what of one manifest is different in another; what names neither."""
    found = [
        f"{name}: {_short(one.get(name))} became {_short(other.get(name))}"
        for name in sorted((one.keys() | other.keys()) - {MADE, "articles"})
        if one.get(name) != other.get(name)
    ]
    first = {entry["article"]: entry for entry in one["articles"]}
    second = {entry["article"]: entry for entry in other["articles"]}
    found += [f"{name}: only in the first" for name in sorted(first.keys() - second.keys())]
    found += [f"{name}: only in the second" for name in sorted(second.keys() - first.keys())]
    for name in sorted(first.keys() & second.keys()):
        changed = [
            f"{field} {_short(first[name].get(field))} became {_short(second[name].get(field))}"
            for field in sorted(first[name].keys() | second[name].keys())
            if first[name].get(field) != second[name].get(field)
        ]
        if changed:
            found.append(f"{name}: {'; '.join(changed)}")
    return found


def _article_entry(
    article: Article, revision: ArticleRevision | None, links: list[ArticleLink]
) -> dict[str, Any]:
    """What an article consists of; one without a revision was put there by somebody else."""
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


def _spoilt(warehouse: Warehouse, revision: ArticleRevision) -> list[str]:
    """Texts that do not have their hash, or that their HTML does not give any more."""
    name = revision.article
    text = warehouse.value(
        "SELECT text FROM articles WHERE edition = $1 AND article = $2", [revision.edition, name]
    )
    if text is None:
        return [f"{name}: its text is missing"]
    problems = []
    if content_sha(revision.html) != revision.html_sha:
        problems.append(f"{name}: its HTML does not have its hash")
    if content_sha(text) != revision.text_sha:
        problems.append(f"{name}: its text does not have its hash")
    elif revision.converter_version == str(CONVERTER_VERSION):
        title = warehouse.value(
            "SELECT title FROM articles WHERE edition = $1 AND article = $2",
            [revision.edition, name],
        )
        if to_markdown(revision.html, title) != text:
            problems.append(f"{name}: its HTML gives another text now")
    return problems


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
