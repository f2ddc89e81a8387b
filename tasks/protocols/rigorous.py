"""Rigorous Bench: is the report good, does it keep to its query, does it cite what can be trusted?

Source: Rigorous Bench (A Rigorous Benchmark with Multidimensional Evaluation for Deep Research
Agents, arXiv 2510.02190). Quality by query-specific and general rubrics, drift by keywords, a
boost for trusted sources, and their product. What the paper leaves open is a parameter, and the
figures that other settings would give stand beside those of the configured ones. Its authors have
since published a notebook (github.com/EVIGBYEN/DrBench); its settings are one of these.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import polars as pl

from tasks.configuration.models import ProtocolEntry
from tasks.extraction.prose import without_apparatus
from tasks.judges.decisions import Judge
from tasks.judges.research import GradeItems, RateKeywords, RubricItem
from tasks.protocols.case import FIGURES, Case, Decided, Judged
from tasks.protocols.rigorous_evidence import evidence, keyword_items, text_to_grade
from tasks.protocols.rigorous_figures import RELEVANCE, Item, JudgedReport
from tasks.protocols.rigorous_parameters import RigorousParameters
from tasks.protocols.versions import checked_parameters, version_of
from tasks.warehouse.rows import canonical_values
from tasks.warehouse.rubrics import ALLOWED, BundleSettings, Rubric

GRADE_ITEM = "rigorous/grade_item"
ItemT = TypeVar("ItemT")


class Rigorous:
    """One report against its rubrics, keywords and trusted links."""

    name = "rigorous"
    prompts = "rigorous"
    inputs: tuple[str, ...] = ("query", "report", "rubric", "claims", "trace", "usage")
    kinds: tuple[str, ...] = ("research", "write_article")

    def __init__(self, entry: ProtocolEntry) -> None:
        self.metrics = entry.metrics
        self.parameters = checked_parameters(entry, RigorousParameters)
        judged_by = canonical_values(self.parameters, {"domains"}, exclude_defaults=True)
        self.version = version_of(entry, judged_by)

    def assesses(self, judge: Judge) -> bool:
        """Always: how often keywords stand in a report needs no judge."""
        return True

    async def judge(self, case: Case, judge: Judge) -> list[Decided]:
        if case.bundle is None:
            raise ValueError(f"{case.report.assignment}: the assignment has no rubric")
        settings = BundleSettings.model_validate_json(case.bundle.settings)
        prose = without_apparatus(case.report.text)
        steps = []
        if GradeItems in judge.decides:
            steps.append(self._graded(case, judge))
        if RateKeywords in judge.decides:
            steps.append(self._rated(prose, keyword_items(settings), judge))
        found = await asyncio.gather(*steps)
        return [*evidence(case, prose, settings), *(item for items in found for item in items)]

    async def _graded(self, case: Case, judge: Judge) -> list[Decided]:
        """Each item of the rubric in its dimension's step, asked as many at once as configured."""
        text = text_to_grade(case)
        batches = [
            batch
            for dimension in dict.fromkeys(item.dimension for item in case.rubric)
            for batch in _batches(
                [item for item in case.rubric if item.dimension == dimension],
                self.parameters.rubrics_per_call,
            )
        ]
        found = await asyncio.gather(
            *(_grades(case.question, text, batch, judge) for batch in batches)
        )
        return [item for items in found for item in items]

    async def _rated(self, prose: str, items: dict[str, str], judge: Judge) -> list[Decided]:
        batches = _batches([*items], self.parameters.keywords_per_call)
        found = await asyncio.gather(
            *(
                judge.decide(
                    RateKeywords(report=prose, keywords=tuple(items[item] for item in batch))
                )
                for batch in batches
            )
        )
        return [
            Decided(step=RELEVANCE, item=item, answer=answer)
            for batch, answers in zip(batches, found, strict=True)
            for item, answer in zip(batch, answers, strict=True)
        ]

    def figures(self, judged: Judged, judge: Judge) -> pl.DataFrame:
        done = judged.reports.filter(pl.col("state") == "done")["assignment"]
        said = _grouped(judged.verdicts, "step", "item", "status", "label")
        items = _grouped(judged.rubrics, "item", "dimension", "points")
        bundles = dict(judged.bundles.select("assignment", "settings").iter_rows())
        rows = [
            row
            for assignment in done
            for row in _rows(
                assignment,
                JudgedReport(
                    said={(step, item): (status, label)
                          for step, item, status, label in said.get(assignment, ())},
                    items=[Item(*item) for item in items.get(assignment, ())],
                    settings=BundleSettings.model_validate_json(bundles[assignment]),
                    judge=judge,
                    parameters=self.parameters,
                ),
            )
        ]  # fmt: skip
        return pl.DataFrame(rows, schema=FIGURES, orient="row")


async def _grades(
    question: str, report: str, batch: Sequence[Rubric], judge: Judge
) -> list[Decided]:
    items = tuple(
        RubricItem(id=item.item, text=item.text, allowed=ALLOWED.validate_json(item.allowed))
        for item in batch
    )
    answers = await judge.decide(
        GradeItems(question=question, report=report, items=items, prompt=GRADE_ITEM)
    )
    return [
        Decided(step=item.dimension, item=item.item, answer=answer)
        for item, answer in zip(batch, answers, strict=True)
    ]


def _rows(assignment: str, report: JudgedReport) -> Iterable[tuple[Any, ...]]:
    for metric, found in report.figures().items():
        numerator = None if found.value is None else found.value * found.n_items
        yield assignment, metric, numerator, found.n_items, found.n_open, found.reason


def _batches(items: Sequence[ItemT], size: int) -> list[Sequence[ItemT]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def _grouped(frame: pl.DataFrame, *columns: str) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of each assignment, in order."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    for assignment, *row in frame.select("assignment", *columns).iter_rows():
        found.setdefault(assignment, []).append(tuple(row))
    return found
