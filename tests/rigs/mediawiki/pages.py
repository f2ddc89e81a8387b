"""Pages for the wiki: what is imported, in which order, and when each came into a category."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from xml.sax.saxutils import escape

from pydantic import BaseModel, ConfigDict

GOOD = "Good articles"
EPOCH = datetime(2005, 1, 1, tzinfo=UTC)
CITE = (
    "<includeonly>{{#if:{{{url|}}}|[{{{url}}} {{{title|{{{url}}}}}}]|{{{title|}}}}}"
    "{{#if:{{{website|}}}|. ''{{{website}}}''}}</includeonly>"
)
CITED = (
    "web", "news", "journal", "book", "magazine", "press release", "report", "thesis",
    "conference", "encyclopedia", "AV media", "AV media notes", "episode", "interview", "podcast",
    "map", "tweet", "document",
)  # fmt: skip
TEMPLATES = {
    "Template:Good article": "<includeonly>{{#ifeq:{{NAMESPACE}}||[[Category:Good articles]]}}"
    "</includeonly>",
    "Template:GA": "<includeonly>''Good article'' ({{{topic|}}}) since {{{1|}}}</includeonly>",
    "Template:Article history": "<includeonly>''Milestones''</includeonly>",
    "Template:Short description": "<includeonly></includeonly>",
    "Template:Reflist": "<includeonly>{{#if:{{{refs|}}}|{{#tag:references|{{{refs}}}}}|"
    "<references />}}</includeonly>",
    "Template:Refbegin": '<includeonly><div class="refbegin"></includeonly>',
    "Template:AI-generated": "<includeonly>''May be of a language model''</includeonly>",
    "Template:Slop": "#REDIRECT [[Template:AI-generated]]",
    "Template:Refend": "<includeonly></div></includeonly>",
    **{f"Template:Cite {kind}": CITE for kind in CITED},
}


class Later(BaseModel):
    at: datetime
    wikitext: str


class WikiPage(BaseModel):
    """One page. A good article gets a second revision, at `good_article_since`, that says so."""

    model_config = ConfigDict(frozen=True)

    title: str
    wikitext: str
    created: datetime
    good_article_since: datetime | None = None
    good_article_until: datetime | None = None
    topic: str | None = None
    talk: str | None = None
    """The talk page's text in place of {{GA}}."""
    categories: tuple[str, ...] = ()
    redirect_to: str | None = None
    namespace: int = 0
    later: tuple[Later, ...] = ()
    """Further revisions."""
    made: datetime | None = None
    """When its page id was given, where that is not when its first revision was written."""


def read_pages(folder: Path) -> list[WikiPage]:
    """Every page of a folder's JSON files."""
    found: list[WikiPage] = []
    for path in sorted(folder.glob("*.json")):
        found += [WikiPage.model_validate(page) for page in json.loads(path.read_text("utf-8"))]
    return found


def in_order(pages: Sequence[WikiPage]) -> list[WikiPage]:
    """As their ids are given: with creation, but for those that say otherwise."""
    return sorted(pages, key=lambda page: page.made or page.created)


def export_xml(pages: Sequence[WikiPage]) -> Iterator[str]:
    """The file that MediaWiki imports."""
    namespace = "http://www.mediawiki.org/xml/export-0.11/"
    yield f'<mediawiki xmlns="{namespace}" version="0.11" xml:lang="en">'
    for title, text in TEMPLATES.items():
        yield _page(title, 10, [(EPOCH, text)])
    for page in in_order(pages):
        yield _page(page.title, page.namespace, _revisions(page))
        if talk := _talk(page):
            yield talk
    yield "</mediawiki>"


def stamp(pages: Sequence[WikiPage], database: Path) -> None:
    """Date the memberships: a wiki dates them when it updates links, we want what was then."""
    with sqlite3.connect(database, timeout=30) as db:
        found = db.execute("SELECT page_id, page_namespace, page_title FROM page")
        ids = {(namespace, _text(title)): page_id for page_id, namespace, title in found}
        for page in pages:
            key = page.title.replace(" ", "_")
            page_id = ids[page.namespace, key[:1].upper() + key[1:]]
            since = page.good_article_since or page.created
            db.execute(
                "UPDATE categorylinks SET cl_timestamp=? WHERE cl_from=?",
                (f"{since.astimezone(UTC):%Y%m%d%H%M%S}", page_id),
            )
    db.close()


def _revisions(page: WikiPage) -> list[tuple[datetime, str]]:
    if page.redirect_to:
        return [(page.created, f"#REDIRECT [[{page.redirect_to}]]")]
    tags = "".join(f"\n[[Category:{name}]]" for name in page.categories)
    texts = [(page.created, page.wikitext), *((later.at, later.wikitext) for later in page.later)]
    revisions = [(when, f"{text.rstrip()}\n{tags}") for when, text in texts]
    text = revisions[-1][1]
    if page.good_article_since:
        revisions.append((page.good_article_since, "{{good article}}\n" + text))
    if page.good_article_until:
        revisions.append((page.good_article_until, text))
    return revisions


def _talk(page: WikiPage) -> str | None:
    if page.good_article_since is None:
        return None
    since = page.good_article_since.astimezone(UTC)
    text = page.talk
    if text is None and page.good_article_until:
        text = "Delisted good article."
    if text is None:
        text = f"{{{{GA|{since:%H:%M, %-d %B %Y} (UTC)|topic={page.topic or ''}|page=1}}}}"
    return _page(f"Talk:{page.title}", 1, [(since, text)])


def _page(title: str, namespace: int, revisions: Sequence[tuple[datetime, str]]) -> str:
    body = "".join(
        f"<revision><timestamp>{when.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}</timestamp>"
        "<contributor><ip>127.0.0.1</ip></contributor><comment>edit</comment>"
        "<model>wikitext</model><format>text/x-wiki</format>"
        f'<text xml:space="preserve">{escape(text)}</text></revision>'
        for when, text in revisions
    )
    return f"<page><title>{escape(title)}</title><ns>{namespace}</ns>{body}</page>"


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
