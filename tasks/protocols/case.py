"""The interface of protocols: they take a case and return answers per item, and figures."""

from typing import Protocol as Interface

import polars as pl
from pydantic import BaseModel, ConfigDict

from tasks.base import Frozen
from tasks.configuration.models import MetricEntry
from tasks.judges.decisions import Judge, JudgeAnswer
from tasks.models.attachments import Attachment
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


class Case(BaseModel):
    """All inputs of a cell's verdicts: a report, its article, and what was extracted from them."""

    model_config = ConfigDict(frozen=True)

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
    usage: ReportUsage | None = None
    """Null if the report was not produced here."""
    attachments: tuple[Attachment, ...] = ()
    """For a report that came as images: the files to show instead of its text."""

    @property
    def reference(self) -> Article:
        """The article that the report is compared with; raises if the assignment has none."""
        if self.article is None:
            raise ValueError(f"{self.report.assignment}: the assignment has no article")
        return self.article

    @property
    def question(self) -> str:
        """The query, or the title of the article to write."""
        return self.query or self.reference.title


class ItemAnswer(BaseModel):
    """A judge's answer about one item of one step."""

    model_config = ConfigDict(frozen=True)

    step: str
    item: str
    answer: JudgeAnswer


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


class JudgedReports(BaseModel):
    """The reports of one agent with their verdicts, as frames, ready for scoring.

    reports: assignment, state (`done`, `empty`, `failed`, `not_assessed`), state_reason,
        pairs_reliable, pairs_reason.
    verdicts: assignment, step, item, status, label, score; `done` reports only.
    claims: assignment, number, cited, leaked.
    answers: A frame of ANSWER_SCHEMA; questions only.
    redirects: Redirects of the edition's fetched pages.
    rubrics: A frame of RUBRIC_SCHEMA, the judged items; only for protocols with a rubric.
    bundles: A frame of BUNDLE_SCHEMA; only for protocols with a rubric.
    """

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    reports: pl.DataFrame
    verdicts: pl.DataFrame
    claims: pl.DataFrame
    answers: pl.DataFrame = pl.DataFrame(schema=ANSWER_SCHEMA)
    redirects: Redirects = {}
    rubrics: pl.DataFrame = pl.DataFrame(schema=RUBRIC_SCHEMA)
    bundles: pl.DataFrame = pl.DataFrame(schema=BUNDLE_SCHEMA)


FIGURE_SCHEMA = {
    "assignment": pl.String,
    "metric": pl.String,
    "numerator": pl.Float64,
    "n_items": pl.Int64,
    "n_open": pl.Int64,
    "reason": pl.String,
}
"""A row per report and metric; `reason` says why a value is null."""


class Protocol(Interface):
    """A published evaluation protocol."""

    name: str
    version: str
    """Version of its code and parameters; part of every cell's key."""
    metrics: tuple[MetricEntry, ...]
    inputs: tuple[str, ...]
    """The shas of a case that its verdicts depend on: article, report, facts, claims, pages, truth,
    trace, files, query, rubric, criteria, key_points, usage; claim_pages instead of pages if a
    claim's pages are read as one text. Reports that came as images are judged only with `files`.
    With `rubric` or `article`, only assignments that have one are judged; with `criteria`, the
    assignment's rubric is used if it has one."""
    kinds: tuple[str, ...]
    """The kinds of assignments that it judges."""
    prompts: str
    """The folder of `configs/prompts` with its prompts."""

    def supports(self, judge: Judge) -> bool:
        """Whether this judge can decide any of its items."""

    async def judge(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        """Judge one case; return the answer to every item."""

    def compute_figures(self, judged: JudgedReports, judge: Judge) -> pl.DataFrame:
        """Return a frame of FIGURE_SCHEMA for the `done` reports."""


FigureValues = tuple[float | None, int, int, str | None]
"""Numerator, items, open items, and why there is no value."""


def build_not_assessed(metric: str, judged: JudgedReports, reason: str) -> pl.DataFrame:
    """Return rows that say why a metric has no value for any of the reports."""
    return judged.reports.filter(pl.col("state") == "done").select(
        "assignment",
        pl.lit(metric).alias("metric"),
        pl.lit(None, pl.Float64).alias("numerator"),
        pl.lit(0, pl.Int64).alias("n_items"),
        pl.lit(0, pl.Int64).alias("n_open"),
        pl.lit(reason).alias("reason"),
    )


def build_figures(
    metric: str, shares: pl.DataFrame, judged: JudgedReports, empty: str
) -> pl.DataFrame:
    """Return shares as figures of one metric; reports without items get null and the reason
    `empty`."""
    done = judged.reports.filter(pl.col("state") == "done").select("assignment")
    return (
        done.join(shares, on="assignment", how="left")
        .with_columns(pl.col("n_items", "n_open").fill_null(0), metric=pl.lit(metric))
        .with_columns(
            reason=pl.when(pl.col("n_items") == 0).then(pl.lit(empty)),
            numerator=pl.when(pl.col("n_items") > 0).then(pl.col("numerator")),
        )
        .select(list(FIGURE_SCHEMA))
    )
