"""What travels between fetching a page, reading it and keeping it."""

from datetime import date

from pydantic import Field

from tasks.base import Frozen
from tasks.warehouse.pages import FetchOutcome, FetchSource
from tasks.warehouse.rows import PageStatus


class Wanted(Frozen):
    """A page that reports cite."""

    url: str
    """Its key: the normalised address."""
    addresses: tuple[str, ...]
    """As reports wrote it, the most frequent first: what is asked for."""
    around: date | None = None
    """When the reports that cite it were written, for snapshots; null where nobody knows."""


class Hop(Frozen):
    """One redirect."""

    status: int
    url: str
    """Where it led."""


class Fetched(Frozen):
    """What came of asking for a page in one way. Its bytes, if any came whole, are in the
    PageStore under `sha`."""

    source: FetchSource
    asked_url: str
    outcome: FetchOutcome
    final_url: str | None = None
    redirects: tuple[Hop, ...] = ()
    http_status: int | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    """Lower-case names, those that matter (KEPT_HEADERS)."""
    sha: str | None = None
    n_bytes: int | None = None
    tries: int = 1
    error: str | None = None
    seconds: float = 0.0


class Material(Frozen):
    """What a page's reader is given."""

    source: FetchSource
    url: str
    """As asked for."""
    final_url: str
    http_status: int
    headers: dict[str, str]
    content: bytes


class ReadPage(Frozen):
    """What a page says, or why it does not count."""

    status: PageStatus
    title: str | None = None
    text: str | None = None
    """Of `ok` pages only."""
    language: str | None = None
    published_on: date | None = None
    media_type: str | None = None
    signals: tuple[str, ...] = ()
    """What speaks against its being what was cited; a status needs two of different kinds."""
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
"""Headers that say what a page is, how old it is, and who kept us out. No cookies."""
SAID_OF_PAGE = {
    "status": "X-Evergreen-Status",
    "title": "X-Evergreen-Title",
    "language": "X-Evergreen-Language",
    "published_on": "X-Evergreen-Published",
}
"""Headers of a page's text in a WARC file, by what they say; titles are percent-encoded."""
