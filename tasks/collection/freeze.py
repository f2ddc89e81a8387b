"""Freeze the chosen articles, each at its pinned revision, then the edition as a whole.

Plain functions; the Prefect tasks are in `tasks/candidates.py`.
"""

from collections.abc import Sequence

from tasks.base import format_count
from tasks.benchmarks.layout import article_id
from tasks.collection.wiki import Wiki
from tasks.configuration.wikipedia import WikipediaSettings
from tasks.editions.manifest import build_manifest, hash_manifest
from tasks.processes.pool import HelperProcesses
from tasks.warehouse.rows import Article, Edition, content_sha, utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.wiki_editions import (
    ArticleLink,
    ArticleRevision,
    Candidate,
    CandidateDecision,
    Collection,
)
from tasks.warehouse.writer import Change
from tasks.wikipedia.client import RenderedPage
from tasks.wikipedia.dom import UnreadableHtml
from tasks.wikipedia.errors import WikiRefused
from tasks.wikipedia.markdown import CONVERTER_VERSION, to_markdown
from tasks.wikipedia.references import ReferenceUrl, find_reference_urls

GONE = frozenset({"nosuchrevid", "permissiondenied", "missingtitle"})
CHOSEN = """
SELECT r.page_id FROM candidate_ranking AS r
WHERE r.edition = $1 AND r.place <= r.n_articles ORDER BY r.place
"""
PENDING = """
SELECT r.page_id FROM candidate_ranking AS r
LEFT JOIN article_revisions AS v
    ON v.edition = r.edition AND v.page_id = r.page_id AND v.revision_id = r.revision_id
WHERE r.edition = $1 AND r.place <= r.n_articles AND v.page_id IS NULL ORDER BY r.place
"""


def explain_too_few(
    warehouse: Warehouse, collection: Collection, settings: WikipediaSettings
) -> str | None:
    """Return why the edition cannot be frozen if too few articles can be chosen; None if enough."""
    edition = collection.edition
    n = warehouse.value("SELECT count(*) FROM candidate_ranking WHERE edition = $1", [edition])
    fewest = min(settings.fewest_articles, collection.n_articles)
    if n >= fewest:
        return None
    return (
        f"{edition} is not frozen: {format_count(n, 'article')} of its window can be chosen, and "
        f"it needs {fewest:,} (`fewest_articles` in configs/wikipedia.yaml). Run `evergreen "
        f"edition drop {edition}` to use the name for another window."
    )


def find_pending_articles(warehouse: Warehouse, edition: str) -> list[Candidate]:
    """Return the chosen candidates whose revisions have not been fetched, best first."""
    ids = warehouse.frame(PENDING, [edition])["page_id"].to_list()
    return _load_candidates(warehouse, edition, ids)


async def freeze_article(
    wiki: Wiki,
    warehouse: Warehouse,
    helpers: HelperProcesses,
    collection: Collection,
    candidate: Candidate,
) -> None:
    """Fetch a candidate's pinned revision and store its HTML, text, links and views.

    A deleted revision makes the candidate `gone`, unreadable HTML `unreadable`; the next in rank
    moves up.
    """
    assert candidate.revision_id is not None  # set by measuring
    assert candidate.created_at is not None
    try:
        page = await wiki.api.fetch_rendered_page(candidate.revision_id)
    except WikiRefused as error:
        if error.code not in GONE:
            raise
        await _exclude(warehouse, candidate, "gone")
        return
    try:
        text, links = await helpers.run(
            _convert, page.html, candidate.title, raises=(UnreadableHtml,)
        )
    except UnreadableHtml:
        await _exclude(warehouse, candidate, "unreadable")
        return
    views = None
    if wiki.views:
        views = await wiki.views.count_views(
            candidate.title, candidate.created_at, collection.created_until
        )
    await warehouse.write_async(
        *_build_changes(warehouse, collection, candidate, page, text, links, views, wiki.settings)
    )


def freeze_edition(warehouse: Warehouse, collection: Collection) -> Collection:
    """Close the edition for good: decide every candidate and store the manifest."""
    edition = collection.edition
    chosen = set(warehouse.frame(CHOSEN, [edition])["page_id"].to_list())
    ranked = warehouse.frame("SELECT page_id FROM candidate_ranking WHERE edition = $1", [edition])[
        "page_id"
    ].to_list()
    decided = [
        candidate.model_copy(
            update={"decision": "chosen" if candidate.page_id in chosen else "outranked"}
        )
        for candidate in _load_candidates(warehouse, edition, ranked)
    ]
    revisions = warehouse.rows(ArticleRevision, "edition = $1", [edition])
    outranked = [revision.article for revision in revisions if revision.page_id not in chosen]
    removed = [
        Change(model, [], replacing={"edition": edition, "article": article})
        for article in outranked
        for model in (Article, ArticleRevision, ArticleLink)
    ]
    warehouse.write(Change(Candidate, decided), *removed)
    manifest = build_manifest(warehouse, collection)
    now = utc_now()
    frozen = collection.model_copy(
        update={"frozen_at": now, "manifest": manifest, "manifest_sha": hash_manifest(manifest)}
    )
    title = (
        f"Good Articles created {collection.created_since:%Y-%m-%d} to "
        f"{collection.created_until:%Y-%m-%d}"
    )
    row = Edition(edition=edition, source="wikipedia", title=title, imported_at=now)
    warehouse.write(Change(Collection, [frozen]), Change(Edition, [row]))
    return frozen


def _load_candidates(warehouse: Warehouse, edition: str, ids: Sequence[int]) -> list[Candidate]:
    """Load candidates in the order of `ids`."""
    found = {
        candidate.page_id: candidate
        for candidate in warehouse.rows(
            Candidate, "edition = $1 AND page_id IN (SELECT unnest($2))", [edition, list(ids)]
        )
    }
    return [found[page_id] for page_id in ids]


async def _exclude(warehouse: Warehouse, candidate: Candidate, decision: CandidateDecision) -> None:
    decided = candidate.model_copy(update={"decision": decision})
    await warehouse.write_async(Change(Candidate, [decided]))


def _convert(html: str, title: str) -> tuple[str, tuple[ReferenceUrl, ...]]:
    return to_markdown(html, title), find_reference_urls(html)


def _build_changes(
    warehouse: Warehouse,
    collection: Collection,
    candidate: Candidate,
    page: RenderedPage,
    text: str,
    links: Sequence[ReferenceUrl],
    views: int | None,
    settings: WikipediaSettings,
) -> list[Change]:
    wiki = collection.api_url.rpartition("/")[0]
    licence, licence_url = "not known, see the wiki", f"{wiki}/index.php"
    if collection.api_url == settings.api_url:  # the configured licence is this wiki's
        licence, licence_url = settings.licence, settings.licence_url
    name = _choose_name(warehouse, candidate)
    key = {"edition": candidate.edition, "article": name}
    permalink = f"{wiki}/index.php?oldid={candidate.revision_id}"
    article = Article(
        **candidate.model_dump(include={*Article.model_fields}),
        article=name,
        text=text,
        text_sha=content_sha(text),
        views=views,
        external_links=page.external_links,
    )
    revision = ArticleRevision(
        **candidate.model_dump(include={*ArticleRevision.model_fields}),
        article=name,
        permalink=permalink,
        html=page.html,
        html_sha=content_sha(page.html),
        text_sha=article.text_sha,
        converter_version=str(CONVERTER_VERSION),
        licence=licence,
        licence_url=licence_url,
        attribution=f"“{candidate.title}” by its authors on the wiki, {permalink}, "
        f"licence: {licence}; shortened to its prose, lists and tables.",
    )
    rows = [
        ArticleLink(
            **key,
            number=number,
            url=link.normalised,
            raw_url=link.url,
            archive_url=link.archive_url,
        )
        for number, link in enumerate(links)
    ]
    return [
        Change(Article, [article], replacing=key),
        Change(ArticleRevision, [revision], replacing=key),
        Change(ArticleLink, rows, replacing=key),
    ]


def _choose_name(warehouse: Warehouse, candidate: Candidate) -> str:
    """Return the article's file-safe name, with its page id if another title has the same name."""
    name = article_id(candidate.title)
    same = warehouse.frame(
        "SELECT page_id, title FROM candidates WHERE edition = $1", [candidate.edition]
    )
    taken = any(
        page_id != candidate.page_id and article_id(title) == name
        for page_id, title in same.iter_rows()
    )
    return f"{name}_{candidate.page_id}" if taken else name
