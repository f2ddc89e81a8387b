"""What a report is explained by: its claims and facts beside every decision about them."""

from dataclasses import dataclass
from datetime import date, datetime

from tasks.warehouse.rows import content_sha

OUTCOMES = (
    "supported", "partly_supported", "conflicting", "not_supported", "uncited", "never_fetched",
    "unreachable", "not_assessed", "open", "untrusted",
)  # fmt: skip
"""What may be said of a claim. `partly_supported`: only by protocols that tell it apart.
`unreachable`: all its pages were tried in vain; each page's status says how. `open`: an answer
is missing, which a later run may bring. `untrusted`: nobody can tell which page a claim cites."""
ID_LENGTH = 10
"""Hexadecimal digits of a report's id: 40 bits, one chance in a million that two of 1,000 share
theirs."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict, as people are shown it: the fields of its row."""

    judge: str
    protocol: str
    step: str
    item: str
    status: str
    label: str | None
    score: float | None
    reason: str | None
    evidence: str | None
    model_version: str | None
    prompt_sha: str
    attempt: int
    call_id: str | None
    asked_together: int | None
    shown_share: float | None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A cited page as it was when it was fetched, without its text."""

    url: str
    """Its key in the archive."""
    status: str
    title: str | None
    final_url: str | None
    fetched_at: datetime | None
    """UTC; null where its publisher does not say."""
    source: str
    text_sha: str | None
    error: str | None
    media_type: str | None
    language: str | None
    published_on: date | None
    n_chars: int | None
    """Of the text that judges read; null where there is none."""


@dataclass(frozen=True, slots=True)
class ExplainedCitation:
    """One (claim, URL) pair with what every judge said of it."""

    url: str
    raw_url: str
    marker: str | None
    kind: str
    page: Snapshot | None
    """Null: never asked for."""
    decisions: tuple[Decision, ...]


@dataclass(frozen=True, slots=True)
class ExplainedClaim:
    """One statement of the report."""

    number: int
    text: str
    section: str | None
    position: int | None
    source: str
    citations: tuple[ExplainedCitation, ...]
    outcomes: dict[str, str]
    """Judge to one of OUTCOMES; judges that have not begun with the report are missing."""
    conflicts: tuple[Decision, ...]
    """Against the reference article."""
    leaked: bool | None
    """Whether it cites the target article; null where its pairs are untrusted, or there is none."""
    decisions: tuple[Decision, ...]
    """About the claim with all its pages together (DeepResearchGym)."""


@dataclass(frozen=True, slots=True)
class ExplainedFact:
    """One fact of the reference with what every judge found of it in the report."""

    number: int
    text: str
    section: str | None
    position: int | None
    decisions: tuple[Decision, ...]


@dataclass(frozen=True, slots=True)
class ReportScore:
    """One metric of the report by one judge."""

    protocol: str
    judge: str
    metric: str
    value: float | None
    n_items: int
    n_open: int
    state: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class ExplainedReport:
    """One report, with everything that was decided about it."""

    id: str
    edition: str
    agent: str
    agent_name: str
    assignment: str
    article: str | None
    """Null where nothing but a query was given."""
    title: str
    url: str | None
    """The article's."""
    kind: str
    prompt: str | None
    query: str | None
    status: str
    text: str
    text_sha: str
    source_path: str
    usd: float | None
    """What the report cost: all turns of the attempt it was made of, and what people entered;
    null where nobody says."""
    seconds: float | None
    """From asking to the answer; null where it was not asked for here."""
    model_version: str | None
    """As the agent said."""
    claims: tuple[ExplainedClaim, ...]
    pairs_reliable: bool
    pairs_reason: str | None
    facts: tuple[ExplainedFact, ...]
    others: tuple[Decision, ...]
    """Every decision that is about no claim, citation or fact above, in order of protocol, step
    and item."""
    scores: tuple[ReportScore, ...]


def report_id(edition: str, agent: str, assignment: str) -> str:
    """A report's short name: the same in every warehouse, safe in file names and addresses."""
    return content_sha(edition, agent, assignment)[:ID_LENGTH]
