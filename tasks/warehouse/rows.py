"""One frozen model per warehouse table, shared by all packages.

A field's name is its column's name, and `table` names the table. `evergreen schema` shows the
docstrings to users. Rows have no behaviour. Timestamps are UTC.
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
    """Return the sha-256 (hex) of parts, each prefixed with its length so that no lists collide."""
    digest = sha256()
    for part in parts:
        data = part.encode("utf-8", errors="surrogatepass")
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()


def canonical_json(document: Any) -> str:
    """Return canonical JSON for hashing: sorted keys, no spaces."""
    return json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def canonical_values(
    model: BaseModel, exclude: Set[str] = frozenset(), exclude_defaults: bool = False
) -> str:
    """Return a model's values for hashing, under their names in its file or table.

    The order of its fields and the name of its class do not count. A field that is renamed only in
    Python keeps its hash with a `serialization_alias`.
    """
    return canonical_json(
        model.model_dump(
            mode="json", by_alias=True, exclude=set(exclude), exclude_defaults=exclude_defaults
        )
    )


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which JSON allows but UTF-8 does not, with U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


ForeignText = Annotated[
    str,
    BeforeValidator(lambda value: replace_surrogates(value) if isinstance(value, str) else value),
]
"""A string from outside, without lone surrogates."""


def utc_now() -> datetime:
    """Return the current time as an aware datetime in UTC."""
    return datetime.now(UTC)


def _to_utc(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


UtcDatetime = Annotated[datetime, AfterValidator(_to_utc)]
"""An aware datetime in UTC. DuckDB returns timestamps without a time zone; ours are UTC."""


BigInt = Annotated[int, "BIGINT"]
"""An integer whose column has 64 bits; those of others have 32."""


class Status(StrEnum):
    """The status of a verdict. Only `ok` verdicts count in numerators and denominators."""

    OK = "ok"
    JUDGE_ERROR = "judge_error"
    UNPARSABLE = "unparsable"
    BLOCKED = "blocked"
    UNFETCHABLE = "unfetchable"
    NOT_ASSESSED = "not_assessed"
    SKIPPED = "skipped"


OPEN_STATUSES = frozenset({Status.JUDGE_ERROR, Status.UNPARSABLE})
"""The statuses of open verdicts, which a later run asks for again: figures are provisional."""


class Row(Frozen):
    """A row of one table."""

    table: ClassVar[str]
    key: ClassVar[tuple[str, ...]]
    """The columns that identify a row. Writing a row again replaces it, or changes nothing."""


class Edition(Row):
    """A named set of assignments and what was collected for them."""

    table = "editions"
    key = ("edition",)

    edition: str
    source: str
    """The origin: a published layout's name, or `wikipedia`."""
    title: str | None = None
    """The edition's title."""
    imported_at: UtcDatetime = Field(default_factory=utc_now)


class Agent(Row):
    """A system under test."""

    table = "agents"
    key = ("edition", "agent")

    edition: str
    agent: str
    """The agent's id; in published editions the name of its folder."""
    name: str
    """The agent's display name."""
    description: str | None = None
    """A description by the publisher or in the configuration."""
    declares_citations: bool | None = None
    """Whether the publisher's registry says that the agent cites; scoring ignores it."""


class Article(Row):
    """A reference article at one revision."""

    table = "articles"
    key = ("edition", "article")

    edition: str
    article: str
    """The article's file-safe name, e.g. `Fall_River_New_Bedford_Line`."""
    title: str
    url: str
    page_id: BigInt | None = None
    text: str
    """The text in Markdown, as judges read it."""
    text_sha: str
    created_at: UtcDatetime | None = None
    promoted_on: date | None = None
    """When it became a good article."""
    bytes: BigInt | None = None
    """Bytes of its wikitext."""
    views: BigInt | None = None
    """Page views, as the publisher or the wiki counted them."""
    external_links: BigInt | None = None
    """External links in the rendered page."""
    topic: str | None = None
    """The topic, according to its talk page or publisher."""
    category: str | None = None
    """The topic's main category."""


AssignmentKind = Literal["write_article", "find_claims", "research"]
"""What an assignment asks for: an article, claims to compare with a ground truth, or a report that
answers a query."""


class Assignment(Row):
    """One thing an agent is asked to do: write an article, answer a question, research a query."""

    table = "assignments"
    key = ("edition", "assignment")

    edition: str
    assignment: str
    article: str
    """The article to write, the article a question was made from, or a query's reference report;
    empty if there is none."""
    kind: AssignmentKind = "write_article"
    """Write an article, find the claims that answer a question, or research a query."""
    prompt: str | None = None
    """The prompt for agents; null if the publisher does not give it."""
    prompt_sha: str | None = None
    """Sha-256 of the prompt."""
    query: str | None = None
    """The query of a `research` assignment, without the instructions to agents."""


class Report(Row):
    """The report that one agent delivered for one assignment."""

    table = "reports"
    key = ("edition", "agent", "assignment")

    edition: str
    agent: str
    assignment: str
    text: str
    text_sha: str
    status: Literal["ok", "empty", "clarification", "scanned"] = "ok"
    """`clarification`: the agent asked a question back; that text is judged. `scanned`: pictures
    without text, which only judges that read images or PDFs can judge."""
    source_path: str
    """The path in the imported folder, or `job <its id>` for a requested report."""


class Fact(Row):
    """A single statement of a reference article."""

    table = "facts"
    key = ("edition", "article", "number")

    edition: str
    article: str
    number: int
    """0-based, in article order."""
    text: str
    section: str | None = None
    """Heading path of its section (`History > Early years`); null in the lead."""
    position: int | None = None
    """Character offset of the best matching passage in the article's text; null if unknown."""
    source: Literal["published", "offline", "judge"]
    """Who extracted it: the publisher, the offline extractor or a judge."""


class Claim(Row):
    """A single statement of a report."""

    table = "claims"
    key = ("edition", "agent", "assignment", "number")

    edition: str
    agent: str
    assignment: str
    number: int
    """0-based, in report order."""
    text: str
    section: str | None = None
    position: int | None = None
    source: Literal["published", "offline", "judge"]
    """Who extracted it: the publisher, the offline extractor or a judge."""
    unwritten_urls: str | None = None
    """URLs that the publisher joins to the claim and the report does not contain, normalised, with
    spaces between them. They count in leakage only. Null without any, and in earlier imports."""


CitationKind = Literal["explicit", "paragraph", "attributed", "inferred", "published"]
"""Why a claim is said to cite a page: `explicit`, a marker in or right after it; `paragraph`, the
next marker of its paragraph, list item or table row; `attributed`, the judge that extracted the
claim says so; `inferred`, the next marker beyond its paragraph (in rows of the extractor
`offline-1`: the next marker, wherever it is); `published`, its publisher says so."""


class Citation(Row):
    """A (claim, URL) pair."""

    table = "citations"
    key = ("edition", "agent", "assignment", "number", "url")

    edition: str
    agent: str
    assignment: str
    number: int
    """The claim's number."""
    url: str
    """The normalised URL: the page's key in the archive."""
    raw_url: str
    marker: str | None = None
    """The marker in the report, e.g. `[3]`."""
    kind: CitationKind
    """Whose word it is that the claim cites the page."""


NO_URL = "the report cites no URL"
"""Why a report's pairs are unreliable that has none."""


class Extraction(Row):
    """How the facts of an article or the claims of a report were extracted."""

    table = "extractions"
    key = ("edition", "agent", "assignment")

    edition: str
    agent: str
    """The agent's id; empty for the facts of the assignment's article."""
    assignment: str
    source: Literal["published", "offline", "judge"]
    """Who extracted them."""
    extractor_version: str
    """The extractor and its version."""
    input_sha: str
    """Sha-256 of the text or published records they were extracted from."""
    output_sha: str
    """Sha-256 of the result: part of the cell's key."""
    n_items: int
    """The number of facts or claims."""
    n_pairs: int = 0
    """The number of (claim, URL) pairs."""
    pairs_reliable: bool = True
    """False if the (claim, URL) pairs cannot be extracted reliably: `ref_*` is then null."""
    pairs_reason: str | None = None
    """Why the pairs are unreliable."""
    n_offline: int | None = None
    """If a judge's first list was empty, how many the offline extractor finds; from two on the
    judge was asked again. Null for empty lists of earlier versions."""
