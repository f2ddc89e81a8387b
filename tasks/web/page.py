"""The data passed between fetching a page, reading it and storing it."""

from datetime import date

from pydantic import Field

from tasks.base import Frozen
from tasks.warehouse.pages import FetchOutcome, FetchSource, PageStatus


class PageRequest(Frozen):
    """A cited page that is to be fetched."""

    url: str
    """The page's key: its normalised URL."""
    addresses: tuple[str, ...]
    """The URLs to request, as reports wrote them, the most frequent first."""
    cited_on: date | None = None
    """When the reports that cite it were written, to choose a snapshot; None if unknown."""


class Redirect(Frozen):
    """An HTTP redirect."""

    status: int
    url: str
    """The URL it led to."""


class FetchResult(Frozen):
    """The result of fetching a page from one source. Its bytes, if they came complete, are in
    the PageStore under `sha`."""

    source: FetchSource
    asked_url: str
    outcome: FetchOutcome
    final_url: str | None = None
    redirects: tuple[Redirect, ...] = ()
    http_status: int | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    """Those in KEPT_HEADERS, with lower-case names."""
    sha: str | None = None
    n_bytes: int | None = None
    tries: int = 1
    error: str | None = None
    seconds: float = 0.0


class FetchedContent(Frozen):
    """A fetched page as its reader gets it."""

    source: FetchSource
    url: str
    """The URL as requested."""
    final_url: str
    http_status: int
    headers: dict[str, str]
    content: bytes


class ReadPage(Frozen):
    """A page's text and metadata, or why it does not count."""

    status: PageStatus
    title: str | None = None
    text: str | None = None
    """Set for `ok` pages only."""
    language: str | None = None
    published_on: date | None = None
    media_type: str | None = None
    signals: tuple[str, ...] = ()
    """Signs that it is not the cited page; a wall's status needs two of different kinds."""
    error: str | None = None
    reader: str | None = None


KEPT_HEADERS = frozenset(
    {
        "content-type", "content-length", "content-encoding", "content-language",
        "content-disposition", "last-modified", "date", "etag", "expires", "age", "server", "via",
        "retry-after", "x-robots-tag", "cf-mitigated", "cf-ray", "x-datadome", "x-amzn-waf-action",
        "x-sucuri-id", "x-iinfo", "www-authenticate", "memento-datetime", "x-archive-orig-date",
        "x-archive-orig-last-modified",
    }
)  # fmt: skip
"""Headers that tell what a page is, how old it is, and who blocked us. No cookies."""
WARC_PAGE_HEADERS = {
    "status": "X-Evergreen-Status",
    "title": "X-Evergreen-Title",
    "language": "X-Evergreen-Language",
    "published_on": "X-Evergreen-Published",
}
"""WARC headers of a page's text, by `ReadPage` field; values are percent-encoded."""
