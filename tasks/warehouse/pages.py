"""Rows of cited pages: how they were fetched, and what was read."""

from datetime import date
from typing import Literal

from pydantic import Field

from tasks.warehouse.rows import BigInt, Row, UtcDatetime, utc_now

FetchSource = Literal["direct", "jina", "wayback"]
"""The page's own server, Jina Reader, or the Wayback Machine's nearest copy."""

FetchOutcome = Literal["fetched", "unreached", "failed", "refused", "robots", "too_large"]
"""`fetched`: a complete answer, with any HTTP status. `unreached`: no complete answer came, while
other hosts answered, or an error that may pass (408, 425, 429, 5xx), or it was not asked for since
its host or the service is busy; the page is open until a second look, hours later. `failed`: no
usable answer came at the second look either. `refused`: the URL, or a redirect's target, is not
allowed. `robots`: the site's robots.txt forbids it. `too_large`: more bytes than the limit."""


class Fetch(Row):
    """One fetch of a page from one source: done once, kept for ever."""

    table = "fetches"
    key = ("edition", "url", "source")

    edition: str
    url: str
    """The page's key: its normalised URL."""
    source: FetchSource
    """Where it was fetched from."""
    asked_url: str
    """The requested URL, as a report wrote it."""
    outcome: FetchOutcome
    """The outcome."""
    final_url: str | None = None
    """The URL at the end of the redirects."""
    redirects: str = "[]"
    """JSON, in order: `[{"status": 301, "url": "target"}, …]`; status 200 where a page led on, by a
    refresh or to the PDF that it only shows."""
    http_status: int | None = None
    """HTTP status of the last answer; null if there was none."""
    headers: str = "{}"
    """JSON: response headers on the page's type and age, and on what blocked the request."""
    sha: str | None = None
    """Sha-256 of the decoded body, which is in the folder of pages."""
    n_bytes: BigInt | None = None
    tries: int = 1
    """The number of requests."""
    error: str | None = None
    fetched_at: UtcDatetime = Field(default_factory=utc_now)
    """When it was fetched; of an unreached page, when it was first not reached."""
    seconds: float = 0.0
    """Seconds for all tries and the waits between them."""


class SeedPage(Row):
    """A page that articles' references link to, fetched for an agent that is given the sources.

    It serves this agent alone: it is in no sandbox and no other program's archive unless another
    agent cites it, too.
    """

    table = "seed_pages"
    key = ("edition", "agent", "url")

    edition: str
    agent: str
    """The agent that is given the page."""
    url: str
    """The page's key: its normalised URL."""
    raw_url: str
    """The URL as the first article links to it."""


AbsentState = Literal["never_existed", "gone", "unknown"]


class AbsentPage(Row):
    """Whether a cited address that leads nowhere ever existed, as far as an archive knows."""

    table = "absent_pages"
    key = ("edition", "url")

    edition: str
    url: str
    """The page's key: its normalised URL."""
    state: AbsentState
    """`never_existed`: two looks hours apart found nothing, and the archive has nothing. `gone`: an
    archive has it. `unknown`: neither can be said; `reason` says why."""
    reason: str
    """Why it has this state, in words."""
    evidence: str = "{}"
    """JSON: the address as reports have it, the looks at it, what the archive has of it, and the
    known address that the archive found in the same run."""
    checked_at: UtcDatetime = Field(default_factory=utc_now)
    """When its state was found."""
    due_at: UtcDatetime | None = None
    """From when on something is to be found out about it; null if all is known."""


PageStatus = Literal[
    "ok", "unfetchable", "refused", "robots", "too_large", "unreadable",
    "bot_wall", "login_wall", "cookie_wall", "soft_404", "empty",
]  # fmt: skip
"""Only `ok` pages are judged. `unfetchable`: no answer, or an HTTP error. `refused`, `robots`,
`too_large`: as the fetch's outcome. `unreadable`: no text, or not the stated media type. The others
were fetched but are walls: a robot test, a login or cookie request, a "not found" with status 200,
a page without text."""

PageSource = Literal["published", "direct", "jina", "wayback"]
"""Who fetched the page: the publisher of an imported edition, or one of our fetch sources."""


class Page(Row):
    """A cited page as fetched. The first good copy of a URL is kept for ever."""

    table = "pages"
    key = ("edition", "url")

    edition: str
    url: str
    status: PageStatus
    """`ok`, or why the page is unusable."""
    title: str | None = None
    """The page's title."""
    text: str | None = None
    """The text of an `ok` page; also the published text of a page that turned out to be a wall."""
    text_sha: str | None = None
    error: str | None = None
    """Why the page is not `ok`."""
    fetched_by: str | None = None
    """What fetched it, according to the publisher."""
    fetched_at: UtcDatetime | None = None
    source: PageSource | None = None
    """Where the page was fetched from; null (in old warehouses) means `published`."""
    final_url: str | None = None
    """The key of the page it redirected to, if that is another."""
    language: str | None = None
    """ISO 639-1 code, from the page or its text."""
    published_on: date | None = None
    """The publication date in its markup."""
    media_type: str | None = None
    signals: str | None = None
    """JSON: signs that the page is a wall, even if they did not suffice."""
    reader: str | None = None
    """What extracted the text, with its version."""
