"""The data passed between fetching a page, reading it and storing it."""

from collections.abc import Mapping
from datetime import date
from math import ceil
from time import monotonic

from pydantic import BaseModel, Field, PrivateAttr

from tasks.base import Frozen
from tasks.warehouse.pages import FetchOutcome, FetchSource, PageStatus
from tasks.warehouse.rows import replace_surrogates
from tasks.web.errors import PageDeferred, printable
from tasks.web.hosts import LONGEST_WISH_SECONDS, is_retryable

MAX_HEADER_CHARACTERS, MAX_ERROR_CHARACTERS = 500, 500
"""Longest header value and error that are kept."""


class PageRequest(Frozen):
    """A cited page that is to be fetched."""

    url: str
    """The page's key: its normalised URL."""
    addresses: tuple[str, ...]
    """The URLs to request, as reports wrote them, the most frequent first."""
    cited_on: date | None = None
    """When the reports that cite it were written, to choose a snapshot; None if unknown."""
    is_last_look: bool = False
    """Whether it is asked for once even if its host is busy: what comes now settles it."""


class Redirect(Frozen):
    """A redirect by HTTP, by a page's refresh or to the PDF that a page only shows."""

    status: int
    """Of the answer that led on."""
    url: str
    """The URL it led to."""


class FetchResult(BaseModel, extra="forbid"):
    """What is learned about a page from one source, noted while it is fetched, so that errors lose
    nothing. Its bytes, if they came complete, are in the PageStore under `sha`."""

    source: FetchSource
    asked_url: str
    outcome: FetchOutcome = "failed"
    final_url: str | None = None
    """Where the redirects have led; None until a server has answered."""
    redirects: list[Redirect] = Field(default_factory=list)
    http_status: int | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    """Those in KEPT_HEADERS, with lower-case names."""
    sha: str | None = None
    n_bytes: int | None = None
    tries: int = 0
    """Tries in which a server was asked."""
    error: str | None = None
    seconds: float = 0.0
    reached: bool | None = None
    """Whether a server was reached; None if unknown."""
    known_at: float = Field(default_factory=monotonic)
    """When a server last answered, or fetching failed, on the monotonic clock."""
    is_last_look: bool = Field(default=False, exclude=True)
    """The request's."""
    deferred: bool = Field(default=False, exclude=True)
    """Whether the page was not asked for, because its host, or the service, is busy."""
    _started: float = PrivateAttr(default_factory=monotonic)

    @property
    def is_unreached(self) -> bool:
        """Whether no complete answer came: page, host, network or service may be at fault."""
        return self.outcome == "failed" and not self.reached

    @property
    def is_temporary_error(self) -> bool:
        """Whether the host answered that it is busy, or with an error of its own."""
        return self.outcome == "fetched" and is_retryable(self.http_status or 0)

    def begin_try(self) -> None:
        """Forget the last answer before another try."""
        self.final_url, self.redirects, self.http_status, self.headers = None, [], None, {}

    def add_answer(self, url: str, status: int, headers: Mapping[str, str]) -> None:
        """Record a server's answer. Repeated headers are kept as the library lists them."""
        from tasks.models.client import parse_retry_after  # loads httpx, which `status` need not

        self.final_url, self.http_status, self.known_at = url, status, monotonic()
        self.headers = {
            name.lower(): replace_surrogates(value[:MAX_HEADER_CHARACTERS])
            for name, value in headers.items()
            if name.lower() in KEPT_HEADERS
        }
        if (hint := parse_retry_after(headers)) is not None:  # in seconds, also if it was a date
            self.headers["retry-after"] = f"{ceil(min(hint, LONGEST_WISH_SECONDS))}"

    def succeed(self, sha: str, n_bytes: int) -> None:
        """Record that the whole body is stored."""
        self.outcome, self.error, self.reached = "fetched", None, True
        self.sha, self.n_bytes = sha, n_bytes
        self.seconds = monotonic() - self._started

    def take_over(self, pdf: "FetchResult") -> None:
        """Record that the PDF that the page shows is stored in its place."""
        self.redirects += [Redirect(status=200, url=pdf.asked_url), *pdf.redirects]
        self.final_url, self.http_status, self.headers = pdf.final_url, pdf.http_status, pdf.headers
        self.tries += pdf.tries
        self.succeed(pdf.sha or "", pdf.n_bytes or 0)

    def defer(self, error: PageDeferred) -> None:
        """Record that the page was not asked for, and how long its host wants to be left alone."""
        self.fail("failed", f"host busy: {error}", None)
        self.deferred = True
        if error.hint_seconds is not None:
            self.headers = self.headers | {"retry-after": f"{ceil(error.hint_seconds)}"}

    def fail(self, outcome: FetchOutcome, error: str, reached: bool | None) -> None:
        """Record that there is no body, and why."""
        self.outcome, self.reached = outcome, reached
        self.error = printable(error, MAX_ERROR_CHARACTERS)
        self.known_at = monotonic()
        self.seconds = self.known_at - self._started


class FetchedContent(Frozen):
    """A fetched page as its reader gets it."""

    source: FetchSource
    url: str
    """The URL as requested."""
    final_url: str
    http_status: int
    headers: dict[str, str]
    content: bytes


class ExtractedText(Frozen):
    """What a reader extracted from a page's bytes."""

    text: str
    title: str | None = None
    window_title: str | None = None
    """The browser tab's title, in which walls name themselves."""
    language: str | None = None
    published_on: date | None = None
    markup: str = ""
    http_status: int | None = None
    """The page's own status, if it differs from the answer's."""
    refresh: str | None = None
    """Where it leads by a refresh."""
    shown_pdf: str | None = None
    """The PDF that it shows in place of a text; "" if it does not say which."""
    remarks: tuple[str, ...] = ()


class PageUnreadable(Exception):
    """A page cannot be read; the message says why.

    Args:
        status: the page's status.
    """

    def __init__(self, reason: str, status: PageStatus = "unreadable") -> None:
        super().__init__(reason)
        self.status: PageStatus = status


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
    refresh: str | None = None
    shown_pdf: str | None = None
    """As in `ExtractedText`."""


KEPT_HEADERS = frozenset(
    {
        "content-type", "content-length", "content-encoding", "content-language",
        "content-disposition", "last-modified", "date", "etag", "expires", "age", "server", "via",
        "retry-after", "x-robots-tag", "cf-mitigated", "cf-ray", "x-datadome", "x-amzn-waf-action",
        "sg-captcha", "x-sucuri-id", "x-iinfo", "www-authenticate", "memento-datetime",
        "x-archive-orig-date", "x-archive-orig-last-modified",
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
