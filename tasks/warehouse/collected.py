"""Rows of editions that are collected from a wiki."""

from datetime import date
from typing import ClassVar, Literal

from pydantic import Field

from tasks.warehouse.rows import Row, UtcDatetime, utc_now

Decision = Literal[
    "chosen",
    "outranked",
    "created_before",
    "created_after",
    "before_by_id",
    "after_by_id",
    "gone",
    "delisted",
    "redirect",
    "disambiguation",
    "list",
    "too_short",
    "unreadable",
]
"""What became of a candidate. `created_before` and `_after`: by its first revision; `before_by_id`
and `after_by_id`: by its page id, with confirmed pages between it and the window; `gone`: deleted
while we collected; `delisted`: no longer a good article when it was measured; `unreadable`: its
HTML cannot be converted."""


class Collection(Row):
    """How an edition is collected: set once, when it is begun."""

    table: ClassVar[str] = "collections"
    key: ClassVar[tuple[str, ...]] = ("edition",)

    edition: str
    api_url: str
    """The wiki's MediaWiki API."""
    category: str
    """Whose members were looked at."""
    created_since: UtcDatetime
    """The window: when the articles were created."""
    created_until: UtcDatetime
    """Exclusive."""
    n_articles: int
    """To be chosen."""
    spread: bool = False
    """Over categories, in turn."""
    rules: str
    """JSON of the rules as configured then."""
    formula_version: str
    """Of the choice."""
    begun_at: UtcDatetime = Field(default_factory=utc_now)
    """The snapshot's time."""
    n_members: int | None = None
    """Pages the category held; null until it has been listed."""
    frozen_at: UtcDatetime | None = None
    """Null until it is."""
    manifest: str | None = None
    """JSON of all that the edition consists of; null until it is frozen."""
    manifest_sha: str | None = None
    """Of the manifest, without when and under which name it was made."""


class Candidate(Row):
    """A good article that was looked at, with what the choice rests on."""

    table: ClassVar[str] = "candidates"
    key: ClassVar[tuple[str, ...]] = ("edition", "page_id")

    edition: str
    page_id: int
    title: str
    listed_at: UtcDatetime
    """When its place in the category was last written."""
    first_revision_id: int | None = None
    """Null where the page id decided."""
    created_at: UtcDatetime | None = None
    """Of its first revision; null where the page id decided."""
    url: str | None = None
    revision_id: int | None = None
    """The newest when it was measured; all that follows is of it."""
    revision_at: UtcDatetime | None = None
    bytes: int | None = None
    """Of its wikitext."""
    words: int | None = None
    """Of prose, by its wikitext."""
    reference_urls: int | None = None
    """Different pages outside the wiki that it links to."""
    headings: int | None = None
    """In its wikitext."""
    links: int | None = None
    """Different pages of the wiki that it links to."""
    topic: str | None = None
    """As its talk page says."""
    category: str | None = None
    """The main category of the topic; `unknown` where the talk page names none."""
    promoted_on: date | None = None
    """When it became a good article, as its talk page says."""
    decision: Decision | None = None
    """What became of it; null until that is known."""


class ArticleRevision(Row):
    """What a frozen article was made from, and whose work it is."""

    table: ClassVar[str] = "article_revisions"
    key: ClassVar[tuple[str, ...]] = ("edition", "article")

    edition: str
    article: str
    page_id: int
    revision_id: int
    revision_at: UtcDatetime
    permalink: str
    """The revision's own address."""
    html: str
    """As the wiki rendered that revision on that day; its templates may change afterwards."""
    html_sha: str
    """Sha-256 of the HTML."""
    text_sha: str
    converter_version: str
    """What made the text of it, with its version."""
    licence: str
    """By name."""
    licence_url: str
    """Where it is written."""
    attribution: str
    """Whose work it is, to be shown with the text."""
    retrieved_at: UtcDatetime = Field(default_factory=utc_now)
    """When the HTML was asked for."""


class ArticleLink(Row):
    """A page outside the wiki that an article's references name."""

    table: ClassVar[str] = "article_links"
    key: ClassVar[tuple[str, ...]] = ("edition", "article", "number")

    edition: str
    article: str
    number: int
    """0-based, in order of appearance."""
    url: str
    """Normalised: the page's key in the archive."""
    raw_url: str
    archive_url: str | None = None
    """The copy that the reference gives beside it."""
