"""Rows of editions collected from a wiki."""

from datetime import date
from typing import Literal

from pydantic import Field

from tasks.warehouse.rows import BigInt, Row, UtcDatetime, utc_now

CandidateDecision = Literal[
    "chosen",
    "outranked",
    "in_other_edition",
    "created_before",
    "created_after",
    "before_by_id",
    "after_by_id",
    "gone",
    "delisted",
    "redirect",
    "disambiguation",
    "list",
    "machine_written",
    "too_short",
    "under_reassessment",
    "unreadable",
]
"""What became of a candidate. `in_other_edition`: left out, see `excluded_articles`;
`created_before`, `created_after`: by its first revision;
`before_by_id`, `after_by_id`: by its page id, with checked pages between it and the window; `gone`:
deleted during the collection; `delisted`: no longer a good article when measured;
`machine_written`: editors have tagged its text as suspected; `under_reassessment`: its talk page
says that its status is; `unreadable`: its HTML cannot be converted."""


class Collection(Row):
    """How an edition is collected; set when its collection begins."""

    table = "collections"
    key = ("edition",)

    edition: str
    api_url: str
    """The wiki's MediaWiki API."""
    category: str
    """The category whose members are the candidates."""
    created_since: UtcDatetime
    """Start of the window in which articles were created."""
    created_until: UtcDatetime
    """End of the window, exclusive."""
    n_articles: int
    """The number of articles to choose."""
    spread: bool = False
    """Whether the choice alternates between categories."""
    rules: str
    """JSON of the rules as configured then."""
    formula_version: str
    """The version of the choice's formula."""
    begun_at: UtcDatetime = Field(default_factory=utc_now)
    """When the collection began."""
    trial: bool | None = None
    """Whether it is a trial (`--not-counted`): it neither leaves out other editions' articles nor
    takes its own from them. Null: no."""
    last_until: UtcDatetime | None = None
    """When the window of the last edition ended: older articles are its leftovers. Null: there is
    none, or it is a trial."""
    n_members: int | None = None
    """Pages in the category; null until it has been listed."""
    frozen_at: UtcDatetime | None = None
    """When the edition was frozen; null until then."""
    manifest: str | None = None
    """JSON of the edition's contents; null until it is frozen."""
    manifest_sha: str | None = None
    """Sha-256 of the manifest without its time and the names of editions."""


class Candidate(Row):
    """A good article that was considered, with the data for the choice."""

    table = "candidates"
    key = ("edition", "page_id")

    edition: str
    page_id: BigInt
    title: str
    """As listed, until it is measured: then that of the same moment as its URL."""
    listed_at: UtcDatetime
    """When it was last added to the category."""
    first_revision_id: BigInt | None = None
    """Null if the page id decided."""
    created_at: UtcDatetime | None = None
    """Time of its first revision; null if the page id decided."""
    url: str | None = None
    revision_id: BigInt | None = None
    """The newest revision when it was measured; the next columns describe it."""
    revision_at: UtcDatetime | None = None
    bytes: BigInt | None = None
    """Bytes of its wikitext."""
    words: int | None = None
    """Words of prose in the wikitext."""
    reference_urls: int | None = None
    """Distinct pages outside the wiki that it links to."""
    headings: int | None = None
    """Headings in the wikitext."""
    links: int | None = None
    """Distinct wiki pages that it links to."""
    maintenance_tags: str | None = None
    """Names of its maintenance templates, sorted; empty if it has none, null if not looked for."""
    topic: str | None = None
    """The topic on its talk page."""
    category: str | None = None
    """The topic's main category; `unknown` if the talk page names none."""
    promoted_on: date | None = None
    """When it became a good article, according to its talk page."""
    decision: CandidateDecision | None = None
    """The decision; null until it is made."""


class ExcludedArticle(Row):
    """An article that a collection leaves out because another edition has it."""

    table = "excluded_articles"
    key = ("edition", "origin", "title")

    edition: str
    origin: str
    """The other edition, or the manifest in `exclude` of wikipedia.yaml that names the article."""
    origin_sha: str | None = None
    """That manifest's hash; null for imported editions."""
    title: str
    page_id: BigInt | None = None
    """Its page or, if that was no candidate, the one that its title leads to; null if there is
    none."""


class ArticleRevision(Row):
    """The source and attribution of a frozen article."""

    table = "article_revisions"
    key = ("edition", "article")

    edition: str
    article: str
    page_id: BigInt
    revision_id: BigInt
    revision_at: UtcDatetime
    permalink: str
    """The revision's permanent URL."""
    html: str
    """The revision as the wiki rendered it that day; its templates may change later."""
    html_sha: str
    """Sha-256 of the HTML."""
    text_sha: str
    converter_version: str
    """The converter that made the text, with its version."""
    licence: str
    """The licence's name."""
    licence_url: str
    """The licence's URL."""
    attribution: str
    """The attribution to show with the text."""
    retrieved_at: UtcDatetime = Field(default_factory=utc_now)
    """When the HTML was requested (UTC)."""


class ArticleLink(Row):
    """A page outside the wiki that an article's references link to."""

    table = "article_links"
    key = ("edition", "article", "number")

    edition: str
    article: str
    number: int
    """0-based, in order of appearance."""
    url: str
    """The normalised URL: the page's key in the archive."""
    raw_url: str
    archive_url: str | None = None
    """The URL of the archived copy that the reference gives."""
