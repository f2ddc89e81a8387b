"""The interface of protocols: they take a case and return answers per item, and figures."""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Literal
from typing import Protocol as Interface

import polars as pl
from pydantic import BaseModel, ConfigDict

from tasks.base import Frozen
from tasks.configuration.models import MetricEntry, Missing
from tasks.judges.decisions import Judge, JudgeAnswer
from tasks.models.attachments import Attachment
from tasks.protocols.declarations import Board, Bounds
from tasks.protocols.redirects import Redirects
from tasks.warehouse.pages import Page
from tasks.warehouse.rows import Article, Citation, Claim, Extraction, Fact, Report
from tasks.warehouse.rubrics import KeyPoint, PointSet, Rubric, RubricBundle
from tasks.warehouse.traces import SearchTrace
from tasks.warehouse.truths import GroundTruth


class ReportUsage(Frozen):
    """The resources that a report took, as far as its agent reports them."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    """Output tokens, including reasoning."""
    reasoning_tokens: int | None = None
    searches: int | None = None
    reasoning_steps: int | None = None


class Case(Frozen):
    """All inputs of a cell's verdicts: a report, its article, and what was extracted from them."""

    article: Article | None = None
    """Null if the assignment is a question or query without one."""
    report: Report
    facts: tuple[Fact, ...] = ()
    claims: tuple[Claim, ...] = ()
    citations: tuple[Citation, ...] = ()
    pages: tuple[Page, ...] = ()
    extraction: Extraction | None = None
    """How the claims were obtained."""
    truth: GroundTruth | None = None
    """The ground truth of a question."""
    trace: SearchTrace | None = None
    """How the agent searched, if it says so."""
    query: str | None = None
    """The query of a `research` assignment."""
    rubric: tuple[Rubric, ...] = ()
    """The items of the protocol's rubric for this assignment, in order."""
    bundle: RubricBundle | None = None
    key_points: tuple[KeyPoint, ...] = ()
    point_set: PointSet | None = None
    """How the key points were obtained; null if they were never extracted."""
    clicked_documents: bool = False
    """Whether key points can still be made of documents that people clicked."""
    usage: ReportUsage | None = None
    """Null if the report was not produced here."""
    attachments: tuple[Attachment, ...] = ()
    """The files to show instead of the report's text: a scan, or a PDF."""
    pictures: tuple[Attachment, ...] = ()
    """Pictures in the report, to show beside its text."""

    @property
    def reference(self) -> Article:
        """The article that the report is compared with; raises if the assignment has none."""
        if self.article is None:
            raise ValueError(f"{self.report.assignment}: the assignment has no article")
        return self.article

    @property
    def citations_by_url(self) -> dict[str, list[Citation]]:
        """The citations of each address; none if it is not known which claim cites what."""
        if self.extraction is None or not self.extraction.pairs_reliable:
            return {}
        pairs = sorted(self.citations, key=lambda pair: (pair.url, pair.number))
        return {url: list(group) for url, group in groupby(pairs, key=lambda pair: pair.url)}

    @property
    def attributed_by_url(self) -> dict[str, list[Citation]]:
        """`citations_by_url` without pairs that a claim was given across its paragraph's end."""
        found = {
            url: [pair for pair in pairs if pair.kind != "inferred"]
            for url, pairs in self.citations_by_url.items()
        }
        return {url: pairs for url, pairs in found.items() if pairs}

    @property
    def claim_texts(self) -> dict[int, str]:
        """The claims' texts by number."""
        return {claim.number: claim.text for claim in self.claims}

    @property
    def pages_by_url(self) -> dict[str, Page]:
        """The fetched pages."""
        return {page.url: page for page in self.pages}

    @property
    def question(self) -> str:
        """The query, or the title of the article to write."""
        return self.query or self.reference.title


class ItemAnswer(Frozen):
    """A judge's answer about one item of one step."""

    step: str
    item: str
    answer: JudgeAnswer


def name_answers(
    step: str, items: Iterable[str], answers: Iterable[JudgeAnswer]
) -> list[ItemAnswer]:
    """Return the answers about the items of one step, in order."""
    return [
        ItemAnswer(step=step, item=item, answer=answer)
        for item, answer in zip(items, answers, strict=True)
    ]


async def gather_answers(parts: Iterable[Awaitable[Sequence[ItemAnswer]]]) -> list[ItemAnswer]:
    """Judge the parts of a case at the same time; return all answers in the parts' order."""
    return [item for items in await asyncio.gather(*parts) for item in items]


ANSWER_SCHEMA = dict.fromkeys(
    ("assignment", "text", "category", "truths", "settings", "trace"), pl.String
)
"""What figures of questions need besides the verdicts: the answer as given, the ground truth, and
the search trace (null without one)."""


RUBRIC_SCHEMA = {
    "assignment": pl.String,
    "item": pl.String,
    "number": pl.Int64,
    "dimension": pl.String,
    "points": pl.Float64,
    "weight": pl.Float64,
}
BUNDLE_SCHEMA = {"assignment": pl.String, "settings": pl.String}

ASKED_SCHEMA = {"assignment": pl.String, "n_facts": pl.Int64, "n_points": pl.Int64}
"""The reference's facts and the key points of an assignment."""


class JudgedReports(BaseModel):
    """The reports of one agent with their verdicts, as frames, ready for scoring.

    reports: assignment, state (`done`, `empty`, `failed`, `not_assessed`), state_reason,
        pairs_reliable, pairs_reason.
    verdicts: assignment, step, item, status, label, score, reason; `done` reports only.
    claims: assignment, number, attributed (it cites a page by a pair that is not `inferred`), own
        (by an `explicit` pair), cited (attributed, or its publisher names a URL that the report
        does not contain), leaked, published (its publisher extracted it).
    addresses: assignment, url, state: the different addresses that a report cites, with their state
        in the view `page_states`; None if no archive was asked about those that are gone.
    answers: A frame of ANSWER_SCHEMA; questions only.
    redirects: Redirects of the edition's fetched pages.
    rubrics: A frame of RUBRIC_SCHEMA, the judged items; only for protocols with a rubric.
    bundles: A frame of BUNDLE_SCHEMA; only for protocols with a rubric.
    asked: A frame of ASKED_SCHEMA, for the assignments of missing reports.
    """

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    reports: pl.DataFrame
    verdicts: pl.DataFrame
    claims: pl.DataFrame
    answers: pl.DataFrame = pl.DataFrame(schema=ANSWER_SCHEMA)
    addresses: pl.DataFrame | None = None
    redirects: Redirects = {}
    rubrics: pl.DataFrame = pl.DataFrame(schema=RUBRIC_SCHEMA)
    bundles: pl.DataFrame = pl.DataFrame(schema=BUNDLE_SCHEMA)
    asked: pl.DataFrame = pl.DataFrame(schema=ASKED_SCHEMA)

    @property
    def done(self) -> pl.DataFrame:
        """The column `assignment` of the reports that were judged."""
        return self.reports.filter(pl.col("state") == "done").select("assignment")

    @property
    def missing(self) -> list[str]:
        """The assignments of missing reports."""
        return self.reports.filter(pl.col("state") == "empty")["assignment"].to_list()

    def count_asked(self, column: str) -> dict[str, int]:
        """Return a column of `asked` for each missing report."""
        counts = dict(self.asked.select("assignment", column).iter_rows())
        return {assignment: counts.get(assignment, 0) for assignment in self.missing}

    def count_rubric_items(self, *dimensions: str) -> dict[str, int]:
        """Return the number of rubric items of each missing report; only of these dimensions, if
        any are given."""
        rows = self.rubrics
        if dimensions:
            rows = rows.filter(pl.col("dimension").is_in(dimensions))
        counts = dict(rows.group_by("assignment").len().iter_rows())
        return {assignment: counts.get(assignment, 0) for assignment in self.missing}

    def select_step(self, *steps: str) -> pl.DataFrame:
        """Return the verdicts of these steps."""
        return self.verdicts.filter(pl.col("step").is_in(steps))


class Protocol(Interface):
    """A published evaluation protocol."""

    name: str
    version: str
    """Version of its code and parameters; part of every cell's key."""
    metrics: tuple[MetricEntry, ...]
    inputs: tuple[str, ...]
    """The shas of a case that its verdicts depend on: article, report, facts, claims, pages, truth,
    trace, category, files, query, rubric, criteria, key_points, usage, pairs (of claims and URLs,
    with their kinds, without `inferred` ones); claim_pages instead of pages if a claim's pages are
    read as one text. Reports that came as images are judged only with `files`; with `pdfs` and
    `pictures`, PDFs and pictures in reports are shown. With `rubric` or `article`, only assignments
    that have one are judged; with `criteria`, the assignment's rubric is used if it has one."""
    kinds: tuple[str, ...]
    """The kinds of assignments that it judges."""
    missing: Missing
    """What a missing report counts in the metrics with `zero_if_missing`."""
    prompts: str
    """The folder of `configs/prompts` with its prompts."""

    # What follows may be left out (OPTIONAL).
    bounds: Bounds = Bounds()
    """The worst and the best label of each step, for what a judge refuses; without them its figures
    have no bounds."""
    boards: tuple[Board, ...] = ()
    """Its tables of the leaderboard; one with all its metrics if it names none."""
    marks_claims: Literal["pairs", "whole"] | None = None
    """Whether its verdicts on citations mark a report's claims: those on each (claim, URL) pair, or
    those on each claim as a whole, with all its pages together. The view `citation_states` names
    these protocols, too."""
    partly_supported: tuple[str, str] | None = None
    """How a metric counts a claim that its pages support only in part: `as half in …`."""
    metrics_without: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    """How the metrics begin that do not rest on one of its inputs, by this input."""

    def supports(self, judge: Judge) -> bool:
        """Whether this judge can decide any of its items."""

    async def judge(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        """Judge one case; return the answer to every item."""

    def compute_figures(self, judged: JudgedReports, judge: Judge) -> pl.DataFrame:
        """Return a frame of `figures.FIGURE_SCHEMA` for the `done` reports."""

    def count_missing(self, judged: JudgedReports, judge: Judge) -> Mapping[str, Mapping[str, int]]:
        """Return metric → assignment → items that a missing report did not answer. Without the
        metrics that the judge cannot assess; 0 where the assignment has nothing to assess. None in
        any metric unless a protocol says otherwise."""
        return {}


OPTIONAL = ("bounds", "boards", "marks_claims", "partly_supported", "metrics_without")
"""The attributes that protocols of other packages may leave out."""
