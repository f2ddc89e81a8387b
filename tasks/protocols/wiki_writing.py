"""Wiki Writing: which article is better, criterion by criterion?

Source: Wiki Live Challenge. One comparison per category, pooled over all criteria (micro). As
published the reference comes first; `order_policy` can change that: `random` draws the order by
seed, `both` asks twice and shows how often the order alone decided. A verdict's item is the
criterion's id, with the suffix ` report_first` if the report came first.
"""

import asyncio
from hashlib import sha256
from typing import Literal

import polars as pl

from tasks.configuration.criteria import CriteriaCategory, load_criteria
from tasks.configuration.loading import ConfigModel
from tasks.configuration.models import ProtocolEntry
from tasks.extraction.prose import strip_apparatus
from tasks.judges.decisions import (
    FIRST,
    REFERENCE,
    REPORT,
    SECOND,
    TIE,
    CompareArticles,
    Criterion,
    Judge,
    JudgeAnswer,
)
from tasks.metrics.ratios import compute_shares
from tasks.models.attachments import Attachment
from tasks.protocols.case import Case, ItemAnswer, JudgedReports, build_figures, build_not_assessed
from tasks.protocols.versions import build_version, parse_parameters
from tasks.warehouse.rows import canonical_values

METRIC_BY_CATEGORY = {
    "well_written": "writing_well_written",
    "neutral": "writing_neutral",
    "broad_coverage": "writing_broad",
}
REPORT_FIRST = " report_first"
POINTS = {REPORT: 1.0, TIE: 0.5, REFERENCE: 0.0}
"""What a verdict is worth for the report. Ties occur only if allowed."""
EMPTY = "no criterion was decided"


class WikiWritingParameters(ConfigModel):
    criteria: str
    """The criteria file, relative to `configs/` or absolute."""
    order_policy: Literal["wiki_first", "random", "both"] = "wiki_first"
    """Which article comes first: the reference as published, a random one, or each once."""
    seed: int = 0
    """Seed for `random`."""
    allow_tie: bool = False
    """Whether ties, which count half, are allowed; published: no."""
    attachments: bool = False
    """Whether to show scanned reports, instead of their text, to judges that read images."""


class WikiWriting:
    """Compares a report with its reference article by the writing criteria."""

    name = "wiki_writing"
    prompts = "wiki_writing"
    kinds: tuple[str, ...] = ("write_article",)

    def __init__(self, entry: ProtocolEntry) -> None:
        self.metrics = entry.metrics
        self.parameters = parse_parameters(entry, WikiWritingParameters)
        self.criteria = load_criteria(self.parameters.criteria)
        self.inputs: tuple[str, ...] = ("article", "report")
        if self.parameters.attachments:
            self.inputs += ("files",)
        # Judging scans does not affect how texts are judged: it must not change their cells.
        settings = canonical_values(
            self.parameters, exclude={"criteria", "attachments"}, exclude_defaults=True
        )
        self.version = build_version(entry, canonical_values(self.criteria), settings)

    def supports(self, judge: Judge) -> bool:
        return CompareArticles in judge.decides

    async def judge(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        by_order: dict[bool, list[CriteriaCategory]] = {}
        for category in self.criteria.categories:
            for report_first in self._get_orders(case, category.id):
                by_order.setdefault(report_first, []).append(category)
        decided = await asyncio.gather(
            *(self._judge_order(case, judge, *order) for order in sorted(by_order.items()))
        )
        return [item for items in decided for item in items]

    def _get_orders(self, case: Case, category: str) -> tuple[bool, ...]:
        """Return whether the report comes first, for each time a category is asked."""
        if self.parameters.order_policy == "both":
            return (False, True)
        if self.parameters.order_policy == "wiki_first":
            return (False,)
        lot = f"{self.parameters.seed} {case.report.agent} {case.report.assignment} {category}"
        return (bool(sha256(lot.encode()).digest()[0] & 1),)

    async def _judge_order(
        self, case: Case, judge: Judge, report_first: bool, categories: list[CriteriaCategory]
    ) -> list[ItemAnswer]:
        """Judge the categories over one pair of texts; the first one alone, so that the provider
        has cached the texts for the others."""
        texts = [strip_apparatus(case.reference.text), strip_apparatus(case.report.text)]
        pair = (texts[1], texts[0]) if report_first else (texts[0], texts[1])
        attachments = case.attachments
        first, *others = categories
        decided = [await self._compare_category(pair, attachments, judge, report_first, first)]
        decided += await asyncio.gather(
            *(
                self._compare_category(pair, attachments, judge, report_first, category)
                for category in others
            )
        )
        return [item for items in decided for item in items]

    async def _compare_category(
        self,
        pair: tuple[str, str],
        attachments: tuple[Attachment, ...],
        judge: Judge,
        report_first: bool,
        category: CriteriaCategory,
    ) -> list[ItemAnswer]:
        """Compare one category. `attachments` replace the text of a report that came as images."""
        report = "first" if report_first else "second"
        criteria = tuple(Criterion(id=c.id, text=c.text) for c in category.all_criteria)
        answers = await judge.decide(
            CompareArticles(
                category=category.id,
                criteria=criteria,
                first=pair[0],
                second=pair[1],
                allow_tie=self.parameters.allow_tie,
                attached=report if attachments else None,
                attachments=attachments,
            )
        )
        suffix = REPORT_FIRST if report_first else ""
        return [
            ItemAnswer(
                step=category.id,
                item=criterion.id + suffix,
                answer=_name_winner(answer, report_first),
            )
            for criterion, answer in zip(criteria, answers, strict=True)
        ]

    def compute_figures(self, judged: JudgedReports, judge: Judge) -> pl.DataFrame:
        points = pl.col("label").replace_strict(POINTS, default=None, return_dtype=pl.Float64)
        both = self.parameters.order_policy == "both"
        published = judged.verdicts
        if both:
            published = published.filter(~pl.col("item").str.ends_with(REPORT_FIRST))
        return pl.concat(
            [
                build_figures("writing_overall", compute_shares(published, points), judged, EMPTY),
                *(
                    build_figures(
                        metric,
                        compute_shares(published.filter(pl.col("step") == category), points),
                        judged,
                        EMPTY,
                    )
                    for category, metric in METRIC_BY_CATEGORY.items()
                ),
                *(
                    self._compute_order_figures(judged, points)
                    if both
                    else self._not_assessed_rows(judged)
                ),
            ]
        )

    def _compute_order_figures(self, judged: JudgedReports, points: pl.Expr) -> list[pl.DataFrame]:
        """Compute figures over criteria decided in both orders; one open order keeps both open."""
        asked_both = (
            judged.verdicts.with_columns(
                criterion=pl.col("item").str.strip_suffix(REPORT_FIRST), points=points
            )
            .group_by("assignment", "step", "criterion", maintain_order=True)
            .agg(
                points=pl.col("points").mean(),
                differs=pl.col("label").n_unique() > 1,
                status=pl.col("status").sort_by(pl.col("status") == "ok").first(),
                n=pl.len(),
            )
            .filter(pl.col("n") == 2)
        )
        return [
            build_figures(metric, compute_shares(asked_both, pl.col(column)), judged, EMPTY)
            for metric, column in (("writing_both_orders", "points"), ("position_bias", "differs"))
        ]

    def _not_assessed_rows(self, judged: JudgedReports) -> list[pl.DataFrame]:
        reason = f"not_assessed: asked in one order (order_policy {self.parameters.order_policy})"
        return [
            build_not_assessed(metric, judged, reason)
            for metric in ("writing_both_orders", "position_bias")
        ]


def _name_winner(answer: JudgeAnswer, report_first: bool) -> JudgeAnswer:
    """Replace the winner's position in the label by its name."""
    winner_of = {FIRST: REFERENCE, SECOND: REPORT}
    if report_first:
        winner_of = {FIRST: REPORT, SECOND: REFERENCE}
    return answer.model_copy(update={"label": winner_of.get(answer.label or "", answer.label)})
