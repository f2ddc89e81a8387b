"""The decisions about reports that answer a research query.

Key points, support by all of a claim's pages, quality from 0 to 10, items of a rubric, keywords,
and a report beside a reference. Sources are named with each; the rules are in our words.
"""

from typing import Annotated, ClassVar, Protocol

from pydantic import StringConstraints

from tasks.base import Frozen
from tasks.judges.decisions import Criterion, Decision
from tasks.models.attachments import Attachment
from tasks.warehouse.rows import Status
from tasks.warehouse.rubrics import Blocked

ItemId = Annotated[str, StringConstraints(pattern=r"^[\w.:-]{1,80}$")]
ItemValue = Annotated[str, StringConstraints(pattern=r"^-?\d{1,6}(\.\d{1,6})?$")]
SUPPORTED, OMITTED, CONTRADICTED = "supported", "omitted", "contradicted"
FULL, PARTIAL, NONE = "full", "partial", "none"
UNSUPPORTED, UNKNOWN = "unsupported", "unknown"


class CheckPoints(Decision):
    """Does the report support each key point? Labels: `supported` (it affirms or explains it),
    `omitted`, `contradicted`. Source: DeepResearchGym, which asks for one point a call."""

    asks_to: ClassVar[str] = "check key points"

    question: str
    report: str
    points: tuple[str, ...]
    prompt: str = "research_gym/check_points"

    @property
    def n_items(self) -> int:
        return len(self.points)


class VerifySupport(Decision):
    """How far do the cited pages, taken together, support each claim? Labels: `full` (all key
    aspects), `partial`, `none`. Source: DeepResearchGym, citation precision."""

    asks_to: ClassVar[str] = "grade the support of claims"

    claims: tuple[str, ...]
    """Claims that cite exactly these pages."""
    pages: tuple[str, ...]
    """Their texts, addresses left out."""
    prompt: str = "research_gym/verify_support"

    @property
    def together(self) -> str:
        """The pages as one text."""
        return "\n\n".join(self.pages)

    @property
    def n_items(self) -> int:
        return len(self.claims)


class RateReport(Decision):
    """How good is the report by each criterion? Labels: whole numbers `0` to `10`. Source:
    DeepResearchGym, clarity and insight."""

    asks_to: ClassVar[str] = "rate reports"

    question: str
    report: str
    criteria: tuple[Criterion, ...]
    prompt: str = "research_gym/rate_report"

    @property
    def n_items(self) -> int:
        return len(self.criteria)


class RubricItem(Frozen):
    """One item as a judge sees it."""

    id: ItemId
    """Stands in the prompt outside of the fences."""
    text: str
    allowed: tuple[ItemValue, ...]
    """The values it may be given; stand there too."""
    instructions: str = ""
    """How this item is to be judged; of a configured rubric, never of an imported one."""


class GradeItems(Decision):
    """What is the report worth by each item? Labels: one of the item's allowed values.

    Sources: DeepResearch Bench II (batches; `1`, `0`, `-1`), Rigorous Bench (one item a call).
    An answer's evidence is what the judge quotes of the report, whether or not it stands there.
    """

    asks_to: ClassVar[str] = "grade the items of a rubric"

    question: str
    report: str
    items: tuple[RubricItem, ...]
    """All asked in one call."""
    blocked: Blocked | None = None
    attachments: tuple[Attachment, ...] = ()
    """Of a report that has no text, what is shown in place of it."""
    echo: bool = False
    """Items are told apart by their text, repeated character by character, as published; else by
    their ids."""
    prompt: str

    @property
    def n_items(self) -> int:
        return len(self.items)


class RateKeywords(Decision):
    """How much is the report about each keyword? Labels: `1` (absent or unrelated) to `5` (its
    central theme). Source: Rigorous Bench, semantic drift."""

    asks_to: ClassVar[str] = "rate keywords"

    report: str
    """Its text without annotations."""
    keywords: tuple[str, ...]
    prompt: str = "rigorous/rate_keywords"

    @property
    def n_items(self) -> int:
        return len(self.keywords)


class ScorePair(Decision):
    """How good are a report and a reference, side by side, by each criterion?

    Two answers a criterion, first the report's, then the reference's: labels are numbers from 0 to
    10, `7.5` too. Source: DeepResearch Bench, RACE.
    """

    asks_to: ClassVar[str] = "score reports beside a reference"

    task: str
    report: str
    reference: str
    criteria: tuple[Criterion, ...]
    report_first: bool = True
    """As published."""
    prompt: str = "race/score_pair"

    @property
    def n_items(self) -> int:
        return 2 * len(self.criteria)


class CheckCitations(Decision):
    """Does the page hold what the claims that cite it say? Labels: `supported` (all or a part of
    it), `unsupported` (nothing), `unknown` (the page has no content to tell by). Source:
    DeepResearch Bench, FACT; in other protocols a part is not enough, or is half."""

    asks_to: ClassVar[str] = "check citations"

    claims: tuple[str, ...]
    url: str
    page: str
    prompt: str = "fact/check_citations"

    @property
    def n_items(self) -> int:
        return len(self.claims)


class ExtractKeyPoints(Frozen):
    """What in this document helps to answer the query, each with where it says so?"""

    question: str
    document: str
    prompt: str = "key_points/extract"


class FoundPoint(Frozen):
    """One key point with what the judge quotes for it."""

    text: str
    spans: tuple[str, ...] = ()


class MergeKeyPoints(Frozen):
    """The same points without doubles: one atomic idea each, contradicting ones as one that says
    both. All information is kept."""

    question: str
    points: tuple[str, ...]
    prompt: str = "key_points/merge"


class MergedPoint(Frozen):
    text: str
    merged_from: tuple[int, ...]
    """1-based places in the request's points; every one of them is in exactly one merged point,
    or in several where it held several ideas."""


class PointsSaid(Frozen):
    """What a judge said to one of these, or why it said nothing."""

    status: Status
    found: tuple[FoundPoint, ...] = ()
    merged: tuple[MergedPoint, ...] = ()
    reason: str | None = None
    call_id: str | None = None


class PointFinder(Protocol):
    """What makes key points of documents: an LLM judge."""

    name: str
    model_version: str

    def prompt_sha(self, protocol: str) -> str:
        """Sha of the prompts its points rest on, for `key_points`."""

    async def extract_key_points(self, request: ExtractKeyPoints) -> PointsSaid:
        """The points of one document: none, or some of them with a span that stands in it."""

    async def merge_key_points(self, request: MergeKeyPoints) -> PointsSaid:
        """The points of all documents, merged."""
