"""Wiki Writing: which article is better, criterion by criterion?

Source: Wiki Live Challenge. One comparison per category, pooled over all criteria (micro). As
published the reference always stands first; `order_policy` says otherwise: `random` draws the
order by seed, `both` asks twice and shows how often the order alone decided. A verdict's item
is the criterion's id, with ` report_first` after it where the report stood first.
"""

import asyncio
from hashlib import sha256
from typing import Literal

import polars as pl

from tasks.configuration.criteria import CriteriaCategory, load_criteria
from tasks.configuration.loading import Configured
from tasks.configuration.models import ProtocolEntry
from tasks.extraction.prose import without_apparatus
from tasks.judges.decisions import (
    FIRST,
    REFERENCE,
    REPORT,
    SECOND,
    TIE,
    Answer,
    CompareArticles,
    Criterion,
    Judge,
)
from tasks.metrics.shares import shares
from tasks.models.attachments import Attachment
from tasks.protocols.case import Case, Decided, Judged, figures_of, not_assessed
from tasks.protocols.versions import checked_parameters, version_of
from tasks.warehouse.rows import canonical_values

METRIC_OF_CATEGORY = {
    "well_written": "writing_well_written",
    "neutral": "writing_neutral",
    "broad_coverage": "writing_broad",
}
REPORT_FIRST = " report_first"
POINTS = {REPORT: 1.0, TIE: 0.5, REFERENCE: 0.0}
"""What a verdict is worth for the report. A tie can only be where ties are allowed."""
EMPTY = "no criterion was decided"


class WikiWritingParameters(Configured):
    criteria: str
    """The criteria file, relative to `configs/` or absolute."""
    order_policy: Literal["wiki_first", "random", "both"] = "wiki_first"
    """Which article stands first: the reference as published, drawn by lot, or each once."""
    seed: int = 0
    """Of the lot, for `random`."""
    allow_tie: bool = False
    """Published: no. A tie counts half."""
    attachments: bool = False
    """Reports that came as scans are shown to judges that see, in place of the text."""


class WikiWriting:
    """One report against its reference article by the writing criteria."""

    name = "wiki_writing"
    prompts = "wiki_writing"
    kinds: tuple[str, ...] = ("write_article",)

    def __init__(self, entry: ProtocolEntry) -> None:
        self.metrics = entry.metrics
        self.parameters = checked_parameters(entry, WikiWritingParameters)
        self.criteria = load_criteria(self.parameters.criteria)
        self.inputs: tuple[str, ...] = ("article", "report")
        if self.parameters.attachments:
            self.inputs += ("files",)
        # Whether scans are judged is no setting of how texts are: their cells stay what they are.
        settings = canonical_values(
            self.parameters, exclude={"criteria", "attachments"}, exclude_defaults=True
        )
        self.version = version_of(entry, canonical_values(self.criteria), settings)

    def assesses(self, judge: Judge) -> bool:
        return CompareArticles in judge.decides

    async def judge(self, case: Case, judge: Judge) -> list[Decided]:
        by_order: dict[bool, list[CriteriaCategory]] = {}
        for category in self.criteria.categories:
            for report_first in self._orders(case, category.id):
                by_order.setdefault(report_first, []).append(category)
        decided = await asyncio.gather(
            *(self._in_order(case, judge, *order) for order in sorted(by_order.items()))
        )
        return [item for items in decided for item in items]

    def _orders(self, case: Case, category: str) -> tuple[bool, ...]:
        """Whether the report stands first, for each time a category is asked."""
        if self.parameters.order_policy == "both":
            return (False, True)
        if self.parameters.order_policy == "wiki_first":
            return (False,)
        lot = f"{self.parameters.seed} {case.report.agent} {case.report.assignment} {category}"
        return (bool(sha256(lot.encode()).digest()[0] & 1),)

    async def _in_order(
        self, case: Case, judge: Judge, report_first: bool, categories: list[CriteriaCategory]
    ) -> list[Decided]:
        """The categories over one pair of texts: the first alone, so that a provider's cache
        holds the texts when the others come."""
        texts = [without_apparatus(case.reference.text), without_apparatus(case.report.text)]
        pair = (texts[1], texts[0]) if report_first else (texts[0], texts[1])
        shown = case.attachments
        first, *others = categories
        decided = [await self._compared(pair, shown, judge, report_first, first)]
        decided += await asyncio.gather(
            *(self._compared(pair, shown, judge, report_first, category) for category in others)
        )
        return [item for items in decided for item in items]

    async def _compared(
        self,
        pair: tuple[str, str],
        shown: tuple[Attachment, ...],
        judge: Judge,
        report_first: bool,
        category: CriteriaCategory,
    ) -> list[Decided]:
        """One category. shown: the report's files, where it came as pictures and has no text."""
        report = "first" if report_first else "second"
        asked = tuple(Criterion(id=c.id, text=c.text) for c in category.all_criteria)
        answers = await judge.decide(
            CompareArticles(
                category=category.id,
                criteria=asked,
                first=pair[0],
                second=pair[1],
                allow_tie=self.parameters.allow_tie,
                attached=report if shown else None,
                attachments=shown,
            )
        )
        suffix = REPORT_FIRST if report_first else ""
        return [
            Decided(
                step=category.id,
                item=criterion.id + suffix,
                answer=_named(answer, report_first),
            )
            for criterion, answer in zip(asked, answers, strict=True)
        ]

    def figures(self, judged: Judged, judge: Judge) -> pl.DataFrame:
        points = pl.col("label").replace_strict(POINTS, default=None, return_dtype=pl.Float64)
        both = self.parameters.order_policy == "both"
        published = judged.verdicts
        if both:
            published = published.filter(~pl.col("item").str.ends_with(REPORT_FIRST))
        return pl.concat(
            [
                figures_of("writing_overall", shares(published, points), judged, EMPTY),
                *(
                    figures_of(
                        metric,
                        shares(published.filter(pl.col("step") == category), points),
                        judged,
                        EMPTY,
                    )
                    for category, metric in METRIC_OF_CATEGORY.items()
                ),
                *(self._order_figures(judged, points) if both else self._one_order(judged)),
            ]
        )

    def _order_figures(self, judged: Judged, points: pl.Expr) -> list[pl.DataFrame]:
        """Over the criteria of which both orders were decided; one still open keeps both open."""
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
            figures_of(metric, shares(asked_both, pl.col(column)), judged, EMPTY)
            for metric, column in (("writing_both_orders", "points"), ("position_bias", "differs"))
        ]

    def _one_order(self, judged: Judged) -> list[pl.DataFrame]:
        reason = f"not_assessed: asked in one order (order_policy {self.parameters.order_policy})"
        return [
            not_assessed(metric, judged, reason)
            for metric in ("writing_both_orders", "position_bias")
        ]


def _named(answer: Answer, report_first: bool) -> Answer:
    """The answer with the winner's name instead of its place."""
    winner_of = {FIRST: REFERENCE, SECOND: REPORT}
    if report_first:
        winner_of = {FIRST: REPORT, SECOND: REFERENCE}
    return answer.model_copy(update={"label": winner_of.get(answer.label or "", answer.label)})
