"""The decisions about reports on research queries.

Key points, support by all of a claim's pages, quality from 0 to 10, rubric items, keywords, and
comparison with a reference. Each names its source; the rules are in our own words.
"""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Self

from pydantic import StringConstraints

from tasks.base import Frozen
from tasks.judges.decisions import Criterion, DecisionRequest, PromptedRequest
from tasks.models.attachments import Attachment
from tasks.warehouse.rubrics import BlockedSource

ItemId = Annotated[str, StringConstraints(pattern=r"^[\w.:-]{1,80}$")]
ItemValue = Annotated[str, StringConstraints(pattern=r"^-?\d{1,6}(\.\d{1,6})?$")]
SUPPORTED, OMITTED, CONTRADICTED = "supported", "omitted", "contradicted"
FULL, PARTIAL, NONE = "full", "partial", "none"
UNSUPPORTED, UNKNOWN = "unsupported", "unknown"


class CheckPoints(DecisionRequest):
    """Does the report support each key point? Labels: `supported` (it affirms or explains it),
    `omitted`, `contradicted`. Source: DeepResearchGym, which judges one point per call."""

    action: ClassVar[str] = "check key points"
    decided: ClassVar[str] = "points"

    question: str
    report: str
    points: tuple[str, ...]
    prompt: str = "research_gym/check_points"


class VerifySupport(DecisionRequest):
    """How far do the cited pages, taken together, support each claim? Labels: `full` (all key
    aspects), `partial`, `none`. Source: DeepResearchGym, citation precision."""

    action: ClassVar[str] = "grade the support of claims"
    decided: ClassVar[str] = "claims"

    claims: tuple[str, ...]
    """Claims that cite exactly these pages."""
    pages: tuple[str, ...]
    """Their texts, without URLs."""
    prompt: str = "research_gym/verify_support"

    @property
    def page(self) -> str:
        """All pages as one text."""
        return "\n\n".join(self.pages)


class RateReport(DecisionRequest):
    """How good is the report by each criterion? Labels: whole numbers `0` to `10`. Source:
    DeepResearchGym, clarity and insight."""

    action: ClassVar[str] = "rate reports"
    decided: ClassVar[str] = "criteria"

    question: str
    report: str
    criteria: tuple[Criterion, ...]
    prompt: str = "research_gym/rate_report"


class RubricItem(Frozen):
    """A rubric item as a judge sees it."""

    id: ItemId
    """In the prompt it stands outside the fences."""
    text: str
    allowed: tuple[ItemValue, ...]
    """The allowed values, also outside the fences."""
    instructions: str = ""
    """How to judge this item; set by configured rubrics, never by imported ones."""


class GradeItems(DecisionRequest):
    """What is the report worth by each item? Labels: one of the item's allowed values.

    Sources: DeepResearch Bench II (batches; `1`, `0`, `-1`), Rigorous Bench (one item per call).
    An answer's evidence is the judge's quotation of the report, verified or not.
    """

    action: ClassVar[str] = "grade the items of a rubric"
    decided: ClassVar[str] = "items"

    question: str
    report: str
    items: tuple[RubricItem, ...]
    """Items, all judged in one call."""
    blocked: BlockedSource | None = None
    attachments: tuple[Attachment, ...] = ()
    """The files shown instead of the report's text."""
    pictures: tuple[Attachment, ...] = ()
    """Pictures in the report, shown beside its text; none if there are attachments."""
    echo: bool = False
    """Whether the judge identifies items by repeating their text, not by their ids."""


class RateKeywords(DecisionRequest):
    """How much is the report about each keyword? Labels: `1` (absent or unrelated) to `5` (its
    central theme). Source: Rigorous Bench, semantic drift."""

    action: ClassVar[str] = "rate keywords"
    decided: ClassVar[str] = "keywords"

    report: str
    """Its text without annotations."""
    keywords: tuple[str, ...]
    prompt: str = "rigorous/rate_keywords"


class ScorePair(DecisionRequest):
    """How good are a report and a reference, side by side, by each criterion?

    There are two answers per criterion, the report's first: labels are numbers from 0 to 10, also
    fractions such as `7.5`. Source: DeepResearch Bench, RACE.
    """

    action: ClassVar[str] = "score reports beside a reference"

    task: str
    report: str
    reference: str
    criteria: tuple[Criterion, ...]
    report_first: bool = True
    """The published order."""
    prompt: str = "race/score_pair"

    @property
    def n_items(self) -> int:
        return 2 * len(self.criteria)

    def select(self, indices: Sequence[int]) -> Self:
        # One call answers for both articles: it is refused for both.
        return self._keep(sorted({index // 2 for index in indices}), "criteria")


class CheckCitations(DecisionRequest):
    """Does the page hold what the claims that cite it say? Labels: `supported` (all or a part of
    it), `unsupported` (nothing), `unknown` (the page has no content to judge by). Source:
    DeepResearch Bench, FACT; in other protocols a part counts as nothing or as half."""

    action: ClassVar[str] = "check citations"
    decided: ClassVar[str] = "claims"

    claims: tuple[str, ...]
    url: str
    page: str
    prompt: str = "fact/check_citations"


class ExtractKeyPoints(PromptedRequest):
    """Which points of this document help to answer the query, and where does it state them?"""

    question: str
    document: str
    prompt: str = "key_points/extract"


class FoundKeyPoint(Frozen):
    """A key point with the judge's quotations for it."""

    text: str
    spans: tuple[str, ...] = ()


class MergeKeyPoints(PromptedRequest):
    """Merge duplicate points: one atomic idea each; contradicting points become one that states
    both. All information is kept."""

    question: str
    points: tuple[str, ...]
    prompt: str = "key_points/merge"


class MergedKeyPoint(Frozen):
    """A key point merged from one or more points."""

    text: str
    merged_from: tuple[int, ...]
    """1-based indices of the request's points; each is in one merged point, or in several if it
    held several ideas."""
