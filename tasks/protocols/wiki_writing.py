"""Wiki Writing: which article is better, criterion by criterion?

Source: Wiki Live Challenge. One comparison per category, pooled over all criteria (micro). As
published the reference comes first; `order_policy` can change that: `random` draws the order by
seed, `both` asks twice and shows how often the order alone decided. A verdict's item is the
criterion's id, with the suffix ` report_first` if the report came first.
"""

import json
from functools import partial
from hashlib import sha256
from typing import Literal

import polars as pl

from tasks.configuration.criteria import CriteriaCategory, load_criteria
from tasks.configuration.loading import ConfigModel
from tasks.configuration.models import ProtocolEntry
from tasks.configuration.wikipedia import UNKNOWN, find_category, load_descriptions
from tasks.extraction.prose import strip_apparatus
from tasks.judges.decisions import (
    FIRST,
    REFERENCE,
    REPORT,
    SECOND,
    TIE,
    Criterion,
    Judge,
    JudgeAnswer,
)
from tasks.judges.llm.requests import ask_first_alone
from tasks.judges.questions.compare_articles import CompareArticles
from tasks.protocols.case import (
    Case,
    ItemAnswer,
    JudgedReports,
    Protocol,
    gather_answers,
    name_answers,
)
from tasks.protocols.declarations import Bounds, build_version, parse_parameters
from tasks.protocols.figures import build_not_assessed, build_share
from tasks.warehouse.rows import canonical_values

METRIC_BY_CATEGORY = {
    "well_written": "writing_well_written",
    "neutral": "writing_neutral",
    "broad_coverage": "writing_broad",
}
ORDER_METRICS = ("writing_both_orders", "position_bias")
REPORT_FIRST = " report_first"
POINTS = {REPORT: 1.0, TIE: 0.5, REFERENCE: 0.0}
"""What a verdict is worth for the report. Ties occur only if allowed."""
EMPTY = "no criterion was decided"


class WikiWritingParameters(ConfigModel):
    criteria: str
    """`short` (of the published file), `full` (of the paper's tables), or a path, absolute or below
    `configs/`."""
    order_policy: Literal["wiki_first", "random", "both"] = "wiki_first"
    """Which article comes first: the reference as published, a random one, or each once."""
    seed: int = 0
    """Seed for `random`."""
    allow_tie: bool = False
    """Whether ties, which count half, are allowed; published: no."""
    attachments: bool = False
    """Whether to show scanned reports, instead of their text, to judges that read images."""


class WikiWriting(Protocol):
    """Compares a report with its reference article by the writing criteria."""

    name = "wiki_writing"
    prompts = "wiki_writing"
    kinds: tuple[str, ...] = ("write_article",)
    bounds = Bounds(
        dict.fromkeys(METRIC_BY_CATEGORY, (REFERENCE, REPORT)),
        none={"position_bias": "whether two orders differ is neither good nor bad for a report"},
    )

    def __init__(self, entry: ProtocolEntry) -> None:
        self.metrics, self.missing = entry.metrics, entry.missing
        self.parameters = parse_parameters(entry, WikiWritingParameters)
        self.criteria = load_criteria(self.parameters.criteria)
        self.area_descriptions = load_descriptions()
        self.inputs: tuple[str, ...] = ("article", "category", "report")
        if self.parameters.attachments:
            self.inputs += ("files",)
        # Judging scans does not affect how texts are judged: it must not change their cells.
        settings = canonical_values(
            self.parameters, exclude={"criteria", "attachments"}, exclude_defaults=True
        )
        areas = json.dumps(self.area_descriptions, sort_keys=True)
        self.version = build_version(entry, canonical_values(self.criteria), areas, settings)

    def supports(self, judge: Judge) -> bool:
        return CompareArticles in judge.decides

    async def judge(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        by_order: dict[bool, list[CriteriaCategory]] = {}
        for category in self.criteria.categories:
            for report_first in self._get_orders(case, category.id):
                by_order.setdefault(report_first, []).append(category)
        compare = partial(self._compare_category, case, judge)
        return await gather_answers(
            ask_first_alone(partial(compare, report_first), categories)
            for report_first, categories in sorted(by_order.items())
        )

    def _get_orders(self, case: Case, category: str) -> tuple[bool, ...]:
        """Return whether the report comes first, for each time a category is asked."""
        if self.parameters.order_policy == "both":
            return (False, True)
        if self.parameters.order_policy == "wiki_first":
            return (False,)
        lot = f"{self.parameters.seed} {case.report.agent} {case.report.assignment} {category}"
        return (bool(sha256(lot.encode()).digest()[0] & 1),)

    async def _compare_category(
        self, case: Case, judge: Judge, report_first: bool, category: CriteriaCategory
    ) -> list[ItemAnswer]:
        """Compare the texts of reference and report by one category. Attachments replace the text
        of a report that came as images."""
        texts = (strip_apparatus(case.reference.text), strip_apparatus(case.report.text))
        first, second = texts[::-1] if report_first else texts
        # Only names from our own file: a category may come from an imported one.
        area = find_category(case.reference.category)
        criteria = tuple(Criterion(id=c.id, text=c.text) for c in category.all_criteria)
        answers = await judge.decide(
            CompareArticles(
                category=category.id,
                criteria=criteria,
                first=first,
                second=second,
                title=category.name,
                description=category.description,
                topic=case.reference.title,
                subject_area=area if area != UNKNOWN else "",
                area_description=self.area_descriptions.get(area, ""),
                allow_tie=self.parameters.allow_tie,
                attached=("first" if report_first else "second") if case.attachments else None,
                attachments=case.attachments,
            )
        )
        suffix = REPORT_FIRST if report_first else ""
        items = (criterion.id + suffix for criterion in criteria)
        winners = (_name_winner(answer, report_first) for answer in answers)
        return name_answers(category.id, items, winners)

    def compute_figures(self, judged: JudgedReports, judge: Judge) -> pl.DataFrame:
        points = pl.col("label").replace_strict(POINTS, default=None, return_dtype=pl.Float64)
        both = self.parameters.order_policy == "both"
        published = judged.verdicts
        if both:
            published = published.filter(~pl.col("item").str.ends_with(REPORT_FIRST))
        steps = {"writing_overall": published} | {
            metric: published.filter(pl.col("step") == category)
            for category, metric in METRIC_BY_CATEGORY.items()
        }
        rows = [build_share(m, found, points, judged, EMPTY) for m, found in steps.items()]
        if both:
            return pl.concat([*rows, *self._compute_order_figures(judged, points)])
        reason = f"not_assessed: asked in one order (order_policy {self.parameters.order_policy})"
        return pl.concat([*rows, *build_not_assessed(judged, reason, *ORDER_METRICS)])

    def count_missing(self, judged: JudgedReports, judge: Judge) -> dict[str, dict[str, int]]:
        if CompareArticles not in judge.decides:
            return {}
        counts = {
            METRIC_BY_CATEGORY[category.id]: len(category.all_criteria)
            for category in self.criteria.categories
        }
        counts["writing_overall"] = sum(counts.values())
        if self.parameters.order_policy == "both":
            counts["writing_both_orders"] = counts["writing_overall"]
        return {metric: dict.fromkeys(judged.missing, n) for metric, n in counts.items()}

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
            build_share(metric, asked_both, pl.col(column), judged, EMPTY)
            for metric, column in zip(ORDER_METRICS, ("points", "differs"), strict=True)
        ]


def _name_winner(answer: JudgeAnswer, report_first: bool) -> JudgeAnswer:
    """Replace the winner's position in the label by its name."""
    winner_of = {FIRST: REFERENCE, SECOND: REPORT}
    if report_first:
        winner_of = {FIRST: REPORT, SECOND: REFERENCE}
    return answer.model_copy(update={"label": winner_of.get(answer.label or "", answer.label)})
