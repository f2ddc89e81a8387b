"""Explained reports: claims and facts with all verdicts on them."""

from dataclasses import dataclass
from datetime import date, datetime

from tasks.warehouse.rows import content_sha

OUTCOMES = (
    "supported", "partly_supported", "conflicting", "not_supported", "uncited", "never_fetched",
    "unreachable", "not_assessed", "open", "untrusted",
)  # fmt: skip
"""The outcomes of a claim. `partly_supported`: only in protocols that have such a label.
`unreachable`: none of its pages could be fetched; their statuses say why. `open`: a usable answer
is missing. `untrusted`: the report's (claim, URL) pairs are unreliable."""
CITATION_STATES = {
    "supports": "supports",
    "contradicts": "contradicts",
    "does_not_support": "read, does not support",
    "refused": "judge refused",
    "walled": "walled",
    "unreadable": "unreadable",
    "gone": "gone (an archive has it)",
    "never_existed": "never existed",
    "missing": "missing, unknown",
    "open": "open",
}
"""The states of the view `citation_states` in words, in the order in which one goes before
another."""
ID_LENGTH = 10
"""Hexadecimal digits of a report's id. With 40 bits, two of 1,000 ids are equal with a chance of
one in a million."""


@dataclass(frozen=True, slots=True)
class ExplainedVerdict:
    """A verdict on a report, with the fields of its row that people are shown."""

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
    decided_by: str | None = None


@dataclass(frozen=True, slots=True)
class ExplainedPage:
    """A cited page as fetched, without its text."""

    url: str
    """The page's key in the archive."""
    status: str
    title: str | None
    final_url: str | None
    fetched_at: datetime | None
    """UTC; None if its publisher does not say."""
    source: str
    text_sha: str | None
    error: str | None
    media_type: str | None
    language: str | None
    published_on: date | None
    n_chars: int | None
    """Characters of the text that judges read; None if there is none."""
    state: str
    """Its state in the view `page_states`."""
    gone: bool
    """Whether its live address is gone and an archive has it."""

    @property
    def described_status(self) -> str:
        """Its status, with what is known of an address that is gone."""
        if self.state == "read":
            return f"{self.status}, of an address that is gone" if self.gone else self.status
        known = self.state in ("gone", "never_existed", "missing")
        return f"{self.status}, {CITATION_STATES[self.state]}" if known else self.status


@dataclass(frozen=True, slots=True)
class ExplainedCitation:
    """A (claim, URL) pair with every judge's verdicts."""

    url: str
    raw_url: str
    marker: str | None
    kind: str
    page: ExplainedPage | None
    """None if nobody has tried to fetch it."""
    decisions: tuple[ExplainedVerdict, ...]


@dataclass(frozen=True, slots=True)
class ExplainedClaim:
    """A claim with its citations and every judge's verdicts."""

    number: int
    text: str
    section: str | None
    position: int | None
    source: str
    citations: tuple[ExplainedCitation, ...]
    outcomes: dict[str, str]
    """One of OUTCOMES per judge that has begun with the report."""
    conflicts: tuple[ExplainedVerdict, ...]
    """Verdicts on whether it contradicts the reference article."""
    leaked: bool | None
    """Whether it cites the target article; None if its pairs are unreliable or there is no
    article."""
    decisions: tuple[ExplainedVerdict, ...]
    """Verdicts on the claim with all its pages together (DeepResearchGym)."""


@dataclass(frozen=True, slots=True)
class ExplainedFact:
    """A fact of the reference article with every judge's verdicts on the report."""

    number: int
    text: str
    section: str | None
    position: int | None
    decisions: tuple[ExplainedVerdict, ...]
    by_all_claims: tuple[ExplainedVerdict, ...] = ()
    """Verdicts by all claims; only of reports with claims that cite the article itself, which
    `decisions` leave out."""


@dataclass(frozen=True, slots=True)
class ReportScore:
    """The report's value of one metric by one judge."""

    protocol: str
    judge: str
    metric: str
    value: float | None
    n_items: int
    n_open: int
    state: str
    reason: str | None
    n_blocked: int | None = None
    bound_low: float | None = None
    bound_high: float | None = None


@dataclass(frozen=True, slots=True)
class ExplainedReport:
    """A report with all verdicts and scores."""

    id: str
    edition: str
    agent: str
    agent_name: str
    assignment: str
    article: str | None
    """None if the assignment is only a query."""
    title: str
    url: str | None
    """The article's URL."""
    kind: str
    prompt: str | None
    query: str | None
    status: str
    text: str
    text_sha: str
    source_path: str
    usd: float | None
    """The report's cost: all turns of its attempt, and what people entered; None if unknown."""
    seconds: float | None
    """From the request to the answer; None if the report was not requested here."""
    model_version: str | None
    """The model version that the agent stated."""
    claims: tuple[ExplainedClaim, ...]
    pairs_reliable: bool
    pairs_reason: str | None
    facts: tuple[ExplainedFact, ...]
    others: tuple[ExplainedVerdict, ...]
    """The verdicts on other items, ordered by protocol, step and item."""
    scores: tuple[ReportScore, ...]
    empty_lists: str | None = None
    """Whether its claims, or its article's facts, are an empty list that the offline extractor
    doubts; None if not."""
    understood: str | None = None
    """What the offline extractor finds in it, if it has no claims or no reliable citations."""
    doubtful_end: str | None = None
    """Why it may not be whole, by its model's finish reason; None if nothing speaks against it."""


def report_id(edition: str, agent: str, assignment: str) -> str:
    """Return a report's short id: equal in all warehouses, safe in file names and URLs."""
    return content_sha(edition, agent, assignment)[:ID_LENGTH]
