"""Wiki Writing: which article is better, criterion by criterion?

Source: Wiki Live Challenge. One comparison per category; the reference is always the first
article, the report the second, as published. Pooled over all criteria (micro).
"""

import polars as pl

from tasks.configuration.criteria import load_criteria
from tasks.configuration.loading import Configured
from tasks.configuration.models import ProtocolEntry
from tasks.extraction.prose import without_apparatus
from tasks.judges.decisions import CompareArticles, Criterion, Judge
from tasks.metrics.shares import shares
from tasks.protocols.case import Case, Decided, Judged, figures_of
from tasks.protocols.versions import checked_parameters, version_of

METRIC_OF_CATEGORY = {
    "well_written": "writing_well_written",
    "neutral": "writing_neutral",
    "broad_coverage": "writing_broad",
}
REPORT_WINS = "second"


class WikiWritingParameters(Configured):
    criteria: str
    """The criteria file, relative to `configs/` or absolute."""


class WikiWriting:
    """One report against its reference article by the writing criteria."""

    name = "wiki_writing"
    inputs: tuple[str, ...] = ("article", "report")

    def __init__(self, entry: ProtocolEntry) -> None:
        self.metrics = entry.metrics
        self.parameters = checked_parameters(entry, WikiWritingParameters)
        self.criteria = load_criteria(self.parameters.criteria)
        self.version = version_of(entry, self.criteria.model_dump_json())

    def assesses(self, judge: Judge) -> bool:
        return CompareArticles in judge.decides

    async def judge(self, case: Case, judge: Judge) -> list[Decided]:
        first = without_apparatus(case.article.text)
        second = without_apparatus(case.report.text)
        decided = []
        for category in self.criteria.categories:
            asked = tuple(Criterion(id=c.id, text=c.text) for c in category.all_criteria)
            answers = await judge.compare_articles(
                CompareArticles(category=category.id, criteria=asked, first=first, second=second)
            )
            decided += [
                Decided(step=category.id, item=criterion.id, answer=answer)
                for criterion, answer in zip(asked, answers, strict=True)
            ]
        return decided

    def figures(self, judged: Judged, judge: Judge) -> pl.DataFrame:
        wins = pl.col("label") == REPORT_WINS
        empty = "no criterion was decided"
        overall = figures_of("writing_overall", shares(judged.verdicts, wins), judged, empty)
        return pl.concat(
            [
                overall,
                *(
                    figures_of(
                        metric,
                        shares(judged.verdicts.filter(pl.col("step") == category), wins),
                        judged,
                        empty,
                    )
                    for category, metric in METRIC_OF_CATEGORY.items()
                ),
            ]
        )
