"""What a protocol gets and gives: one case in, decided items and figures out."""

from typing import Protocol as Interface

import polars as pl
from pydantic import BaseModel, ConfigDict

from tasks.base import Frozen
from tasks.configuration.models import MetricEntry
from tasks.judges.decisions import Answer, Judge
from tasks.models.attachments import Attachment
from tasks.protocols.redirects import Redirects
from tasks.warehouse.rows import Article, Citation, Claim, Extraction, Fact, Page, Report
from tasks.warehouse.rubrics import KeyPoint, PointSet, Rubric, RubricBundle
from tasks.warehouse.traces import SearchTrace
from tasks.warehouse.truths import GroundTruth


class Usage(Frozen):
    """What a report took, as far as its agent says so."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    """Reasoning included."""
    reasoning_tokens: int | None = None
    searches: int | None = None
    reasoning_steps: int | None = None


class Case(BaseModel):
    """All that one cell's verdicts rest on: one report, its article, and what was made of them."""

    model_config = ConfigDict(frozen=True)

    article: Article | None = None
    """Null where the assignment is a question or query that has none."""
    report: Report
    facts: tuple[Fact, ...] = ()
    claims: tuple[Claim, ...] = ()
    citations: tuple[Citation, ...] = ()
    pages: tuple[Page, ...] = ()
    extraction: Extraction | None = None
    """How the claims were obtained."""
    truth: GroundTruth | None = None
    """Of a question."""
    trace: SearchTrace | None = None
    """How the agent searched, where it says so."""
    query: str | None = None
    """Of a `research` assignment."""
    rubric: tuple[Rubric, ...] = ()
    """The items of the protocol's rubric for this assignment, in order."""
    bundle: RubricBundle | None = None
    key_points: tuple[KeyPoint, ...] = ()
    point_set: PointSet | None = None
    """How the key points were obtained; null where nobody has tried."""
    usage: Usage | None = None
    """Null where the report was not asked for here."""
    attachments: tuple[Attachment, ...] = ()
    """Of a report that came as pictures, what is shown in place of its text."""

    @property
    def reference(self) -> Article:
        """The article the report is measured against; only for assignments that have one."""
        if self.article is None:
            raise ValueError(f"{self.report.assignment}: the assignment has no article")
        return self.article

    @property
    def question(self) -> str:
        """What the report answers: the query, or the title of the article to be written."""
        return self.query or self.reference.title


class Decided(BaseModel):
    """One answer and the item it is about."""

    model_config = ConfigDict(frozen=True)

    step: str
    item: str
    answer: Answer


ANSWERS = dict.fromkeys(
    ("assignment", "text", "category", "truths", "settings", "trace"), pl.String
)
"""What the figures of questions rest on beside the verdicts: the answer as it was given, what is
true, and the search trace (null where there is none)."""


RUBRICS = {
    "assignment": pl.String,
    "item": pl.String,
    "number": pl.Int64,
    "dimension": pl.String,
    "points": pl.Float64,
    "weight": pl.Float64,
}
BUNDLES = {"assignment": pl.String, "settings": pl.String}


class Judged(BaseModel):
    """The reports of one agent with their verdicts, as frames, ready for scoring.

    reports: assignment, state (`done`, `empty`, `failed`, `not_assessed`), state_reason,
        pairs_reliable, pairs_reason.
    verdicts: assignment, step, item, status, label, score; of `done` reports only.
    claims: assignment, number, cited, leaked.
    answers: a frame of ANSWERS; of questions only.
    redirects: of the edition's fetched pages.
    rubrics: a frame of RUBRICS: the items that its verdicts are about; bundles: of BUNDLES. Both
        of protocols that need a rubric.
    """

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    reports: pl.DataFrame
    verdicts: pl.DataFrame
    claims: pl.DataFrame
    answers: pl.DataFrame = pl.DataFrame(schema=ANSWERS)
    redirects: Redirects = {}
    rubrics: pl.DataFrame = pl.DataFrame(schema=RUBRICS)
    bundles: pl.DataFrame = pl.DataFrame(schema=BUNDLES)


FIGURES = {
    "assignment": pl.String,
    "metric": pl.String,
    "numerator": pl.Float64,
    "n_items": pl.Int64,
    "n_open": pl.Int64,
    "reason": pl.String,
}
"""What scoring gives: a row per report and metric; `reason` says why a value is null."""


class Protocol(Interface):
    """A published evaluation protocol."""

    name: str
    version: str
    """Of its code and parameters; part of every cell's key."""
    metrics: tuple[MetricEntry, ...]
    inputs: tuple[str, ...]
    """Which shas of a case its verdicts rest on: article, report, facts, claims, pages, truth,
    trace, files, query, rubric, criteria, key_points, usage; claim_pages in place of pages where
    all that a claim cites are read as one text. Only with `files` among them are reports that
    came as pictures judged at all; with `rubric` or `article`, only assignments that
    have one; with `criteria`, by the assignment's rubric where it has one."""
    kinds: tuple[str, ...]
    """Which kinds of assignments it judges."""
    prompts: str
    """The folder of `configs/prompts` that its verdicts rest on."""

    def assesses(self, judge: Judge) -> bool:
        """Whether this judge can decide anything of it."""

    async def judge(self, case: Case, judge: Judge) -> list[Decided]:
        """Every decision of one case."""

    def figures(self, judged: Judged, judge: Judge) -> pl.DataFrame:
        """A frame of FIGURES for the `done` reports."""


def not_assessed(metric: str, judged: Judged, reason: str) -> pl.DataFrame:
    """Rows that say why a metric has no value for any of the reports."""
    return judged.reports.filter(pl.col("state") == "done").select(
        "assignment",
        pl.lit(metric).alias("metric"),
        pl.lit(None, pl.Float64).alias("numerator"),
        pl.lit(0, pl.Int64).alias("n_items"),
        pl.lit(0, pl.Int64).alias("n_open"),
        pl.lit(reason).alias("reason"),
    )


def figures_of(metric: str, shares: pl.DataFrame, judged: Judged, empty: str) -> pl.DataFrame:
    """Shares as figures of one metric; reports without items get null and the reason `empty`."""
    done = judged.reports.filter(pl.col("state") == "done").select("assignment")
    return (
        done.join(shares, on="assignment", how="left")
        .with_columns(pl.col("n_items", "n_open").fill_null(0), metric=pl.lit(metric))
        .with_columns(
            reason=pl.when(pl.col("n_items") == 0).then(pl.lit(empty)),
            numerator=pl.when(pl.col("n_items") > 0).then(pl.col("numerator")),
        )
        .select(list(FIGURES))
    )
