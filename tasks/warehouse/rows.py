"""One frozen model per warehouse table: the words every room shares.

A field's name is its column's name; a model's `table` is its table. Rows say what they
hold, in which unit and range; they carry no behaviour. Timestamps are UTC.
"""

import json
from collections.abc import Set
from datetime import UTC, date, datetime
from enum import StrEnum
from hashlib import sha256
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from tasks.base import Frozen


def content_sha(*parts: str) -> str:
    """Sha-256 (hex) over parts, each length-prefixed so that no two lists of parts collide."""
    digest = sha256()
    for part in parts:
        data = part.encode("utf-8", errors="surrogatepass")
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()


def canonical_json(document: Any) -> str:
    """JSON in one form only, for hashing: keys sorted, no spaces."""
    return json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def canonical_values(
    model: BaseModel, exclude: Set[str] = frozenset(), exclude_defaults: bool = False
) -> str:
    """A model's values for hashing, under the names that its file or table gives them.

    The order of its fields and the name of its class do not count. A field that is renamed in
    Python alone keeps its ids by a `serialization_alias`.
    """
    return canonical_json(
        model.model_dump(
            mode="json", by_alias=True, exclude=set(exclude), exclude_defaults=exclude_defaults
        )
    )


def storable(text: str) -> str:
    """A text that UTF-8 can hold: half surrogate pairs, which JSON allows, become U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


ForeignText = Annotated[
    str, BeforeValidator(lambda value: storable(value) if isinstance(value, str) else value)
]
"""A string from outside, made storable."""


def utc_now() -> datetime:
    """Now, aware, in UTC."""
    return datetime.now(UTC)


def _aware(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


UtcDatetime = Annotated[datetime, AfterValidator(_aware)]
"""Aware in UTC; DuckDB gives its timestamps back without a zone, and ours are UTC."""


class Status(StrEnum):
    """What became of one decision. Only `ok` enters a numerator or a denominator."""

    OK = "ok"
    JUDGE_ERROR = "judge_error"
    UNPARSABLE = "unparsable"
    BLOCKED = "blocked"
    UNFETCHABLE = "unfetchable"
    NOT_ASSESSED = "not_assessed"
    SKIPPED = "skipped"


OPEN_STATUSES = frozenset({Status.JUDGE_ERROR, Status.UNPARSABLE})
"""Statuses a later run may heal: while any is left, a figure is provisional."""


class Row(Frozen):
    """A record of one table."""

    table: ClassVar[str]
    key: ClassVar[tuple[str, ...]]
    """Columns that name one record; a second write of the same key changes nothing or replaces."""


class Edition(Row):
    """A set of articles or questions that agents are measured on."""

    table: ClassVar[str] = "editions"
    key: ClassVar[tuple[str, ...]] = ("edition",)

    edition: str
    source: str
    """Where it came from: a published layout's name, or `wikipedia`."""
    title: str | None = None
    """The edition's own."""
    imported_at: UtcDatetime = Field(default_factory=utc_now)


class Agent(Row):
    """A system under test."""

    table: ClassVar[str] = "agents"
    key: ClassVar[tuple[str, ...]] = ("edition", "agent")

    edition: str
    agent: str
    """The agent's id: the published folder's name."""
    name: str
    """As people read it."""
    description: str | None = None
    """In the publisher's or configuration's words."""
    declares_citations: bool | None = None
    """What the published registry says; the reports decide."""


class Article(Row):
    """A Good Article at one revision: the human reference."""

    table: ClassVar[str] = "articles"
    key: ClassVar[tuple[str, ...]] = ("edition", "article")

    edition: str
    article: str
    """The article's file-safe name, e.g. `Fall_River_New_Bedford_Line`."""
    title: str
    url: str
    page_id: int | None = None
    text: str
    """Reference text in Markdown, as the judge reads it."""
    text_sha: str
    created_at: UtcDatetime | None = None
    promoted_on: date | None = None
    """When it became a good article."""
    bytes: int | None = None
    """Of its wikitext."""
    views: int | None = None
    """Of its page, as its publisher or the wiki counted them."""
    external_links: int | None = None
    """In the rendered page."""
    topic: str | None = None
    """As its talk page or publisher says."""
    category: str | None = None
    """The main category of the topic."""


AssignmentKind = Literal["write_article", "find_claims", "research"]
"""What an assignment asks for: an article, claims (measured against the assignment's ground truth),
or a report that answers a query."""


class Assignment(Row):
    """What an agent is asked: write this article, find what answers a question, or report on it."""

    table: ClassVar[str] = "assignments"
    key: ClassVar[tuple[str, ...]] = ("edition", "assignment")

    edition: str
    assignment: str
    article: str
    """The article to be written, the one a question was made from, or the reference report that a
    query has; empty where there is none."""
    kind: AssignmentKind = "write_article"
    """Write the article, find claims that answer a question, or answer a query."""
    prompt: str | None = None
    """Null where the publisher does not give the prompt."""
    prompt_sha: str | None = None
    """Sha-256 of the prompt."""
    query: str | None = None
    """Of a `research` assignment, what is asked, without the instructions to agents."""


class Report(Row):
    """What one agent wrote for one assignment."""

    table: ClassVar[str] = "reports"
    key: ClassVar[tuple[str, ...]] = ("edition", "agent", "assignment")

    edition: str
    agent: str
    assignment: str
    text: str
    text_sha: str
    status: Literal["ok", "empty", "clarification", "scanned"] = "ok"
    """`clarification`: the agent asked back instead of writing; it is judged as it stands.
    `scanned`: it came as pictures; its text is empty, and only judges that see can read it."""
    source_path: str
    """Relative to the imported folder; of a report that was asked for `job <its id>`."""


class Fact(Row):
    """An atomic statement of a reference article."""

    table: ClassVar[str] = "facts"
    key: ClassVar[tuple[str, ...]] = ("edition", "article", "number")

    edition: str
    article: str
    number: int
    """0-based, in article order."""
    text: str
    section: str | None = None
    """Heading path of the section it stands in (`History > Early years`); null for the lead."""
    position: int | None = None
    """Offset in characters of the best matching passage in the article's text; null if unknown."""
    source: Literal["published", "offline", "judge"]
    """Who took it out of the text: the publisher, the offline extraction, a judge."""


class Claim(Row):
    """An atomic statement of a report."""

    table: ClassVar[str] = "claims"
    key: ClassVar[tuple[str, ...]] = ("edition", "agent", "assignment", "number")

    edition: str
    agent: str
    assignment: str
    number: int
    """0-based, in the order of the report."""
    text: str
    section: str | None = None
    position: int | None = None
    source: Literal["published", "offline", "judge"]
    """Who took it out of the report: the publisher, the offline extraction, a judge."""


class Citation(Row):
    """One (claim, URL) pair."""

    table: ClassVar[str] = "citations"
    key: ClassVar[tuple[str, ...]] = ("edition", "agent", "assignment", "number", "url")

    edition: str
    agent: str
    assignment: str
    number: int
    """The claim's number."""
    url: str
    """Normalised: the page's key in the archive."""
    raw_url: str
    marker: str | None = None
    """As it stands in the report, e.g. `[3]`."""
    kind: Literal["explicit", "inferred", "published"]
    """`inferred`: the claim had no marker of its own and took the next one."""


class Extraction(Row):
    """How the facts of an article or the claims of a report were obtained; written with them."""

    table: ClassVar[str] = "extractions"
    key: ClassVar[tuple[str, ...]] = ("edition", "agent", "assignment")

    edition: str
    agent: str
    """Empty for the facts of the assignment's article."""
    assignment: str
    source: Literal["published", "offline", "judge"]
    """Who did it."""
    extractor_version: str
    """What did it, with its version."""
    input_sha: str
    """Sha of the text (or published records) it was made from."""
    output_sha: str
    """Of what came out: a part of the cell's key."""
    n_items: int
    """Facts, or claims."""
    n_pairs: int = 0
    """(Claim, URL) pairs."""
    pairs_reliable: bool = True
    """False where claim-URL pairs cannot be extracted reliably: `ref_*` is then null."""
    pairs_reason: str | None = None
    """Why they cannot."""


PageStatus = Literal[
    "ok", "unfetchable", "refused", "robots", "too_large", "unreadable",
    "bot_wall", "login_wall", "cookie_wall", "soft_404", "empty",
]  # fmt: skip
"""Only what an `ok` page says is judged. `unfetchable`: no answer, or an HTTP error. `refused`,
`robots`, `too_large`: as a fetch's outcome. `unreadable`: it has no text, or its bytes are not what
they say. The others came, but are not what was cited: a test for robots, a request to log in or to
accept cookies, a "not found" that says 200, a page without text."""

PageSource = Literal["published", "direct", "jina", "wayback"]
"""Who had the page: the publisher of an imported edition, or one of our ways to fetch."""


class Page(Row):
    """What a web page said when it was fetched. The first good copy of a URL is kept for ever."""

    table: ClassVar[str] = "pages"
    key: ClassVar[tuple[str, ...]] = ("edition", "url")

    edition: str
    url: str
    status: PageStatus
    """Whether it is what was cited, and what it is otherwise."""
    title: str | None = None
    """The page's own."""
    text: str | None = None
    """Of `ok` pages; and what a publisher read, also where it turned out to be none."""
    text_sha: str | None = None
    error: str | None = None
    """Why it is not `ok`, in words."""
    fetched_by: str | None = None
    """What fetched it, in its publisher's words."""
    fetched_at: UtcDatetime | None = None
    source: PageSource | None = None
    """Null in warehouses older than this column: published."""
    final_url: str | None = None
    """The key of the page that its redirects led to, where that is another."""
    language: str | None = None
    """ISO 639-1, where the page or its text says it."""
    published_on: date | None = None
    """The day its markup names."""
    media_type: str | None = None
    signals: str | None = None
    """JSON: what speaks against the page being what was cited, also where it does not suffice."""
    reader: str | None = None
    """What took the text out of its bytes, with its version."""


class ImportIssue(Row):
    """Something an import could not read, or read with a remark."""

    table: ClassVar[str] = "import_issues"
    key: ClassVar[tuple[str, ...]] = ("edition", "scope", "path", "kind")

    edition: str
    scope: str = ""
    """The agent whose files it is about; empty for the edition's own."""
    path: str
    """Relative to the imported folder."""
    kind: str
    """What is the matter, in a word."""
    severity: Literal["unreadable", "remark"]
    """`unreadable`: it is missing from the edition; `remark`: it is in."""
    message: str
    """The same in words."""
