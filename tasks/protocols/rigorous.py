"""Rigorous Bench: is the report good, does it keep to its query, does it cite trusted sources?

Source: Rigorous Bench (A Rigorous Benchmark with Multidimensional Evaluation for Deep Research
Agents, arXiv 2510.02190). Quality by query-specific and general rubrics, drift by keywords, a
boost for trusted sources, and their product. What the paper leaves open is a parameter; figures are
also computed with other settings, among them those of the authors' notebook, published since
(github.com/EVIGBYEN/DrBench).
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import polars as pl

from tasks.configuration.models import ProtocolEntry
from tasks.extraction.prose import strip_apparatus
from tasks.judges.decisions import Judge
from tasks.judges.research import GradeItems, RateKeywords, RubricItem
from tasks.protocols.case import FIGURE_SCHEMA, Case, ItemAnswer, JudgedReports
from tasks.protocols.rigorous_evidence import build_graded_text, collect_evidence, number_keywords
from tasks.protocols.rigorous_figures import RELEVANCE, RigorousReport, RubricPoints
from tasks.protocols.rigorous_parameters import RigorousParameters
from tasks.protocols.versions import build_version, parse_parameters
from tasks.warehouse.rows import canonical_values
from tasks.warehouse.rubrics import ALLOWED_VALUES, BundleSettings, Rubric

GRADE_ITEM = "rigorous/grade_item"
ItemT = TypeVar("ItemT")


class Rigorous:
    """Judges a report by its rubrics, keywords and trusted links."""

    name = "rigorous"
    prompts = "rigorous"
    inputs: tuple[str, ...] = ("query", "report", "rubric", "claims", "trace", "usage")
    kinds: tuple[str, ...] = ("research", "write_article")

    def __init__(self, entry: ProtocolEntry) -> None:
        self.metrics = entry.metrics
        self.parameters = parse_parameters(entry, RigorousParameters)
        judged_by = canonical_values(self.parameters, {"domains"}, exclude_defaults=True)
        self.version = build_version(entry, judged_by)

    def supports(self, judge: Judge) -> bool:
        """Return True: counting keywords needs no judge."""
        return True

    async def judge(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        if case.bundle is None:
            raise ValueError(f"{case.report.assignment}: the assignment has no rubric")
        settings = BundleSettings.model_validate_json(case.bundle.settings)
        prose = strip_apparatus(case.report.text)
        steps = []
        if GradeItems in judge.decides:
            steps.append(self._grade_rubric(case, judge))
        if RateKeywords in judge.decides:
            steps.append(self._rate_keywords(prose, number_keywords(settings), judge))
        found = await asyncio.gather(*steps)
        return [
            *collect_evidence(case, prose, settings),
            *(item for items in found for item in items),
        ]

    async def _grade_rubric(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        """Grade the rubric in batches of the configured size; a dimension is a step."""
        text = build_graded_text(case)
        batches = [
            batch
            for dimension in dict.fromkeys(item.dimension for item in case.rubric)
            for batch in _split_batches(
                [item for item in case.rubric if item.dimension == dimension],
                self.parameters.rubrics_per_call,
            )
        ]
        found = await asyncio.gather(
            *(_grade_batch(case.question, text, batch, judge) for batch in batches)
        )
        return [item for items in found for item in items]

    async def _rate_keywords(
        self, prose: str, items: dict[str, str], judge: Judge
    ) -> list[ItemAnswer]:
        batches = _split_batches([*items], self.parameters.keywords_per_call)
        found = await asyncio.gather(
            *(
                judge.decide(
                    RateKeywords(report=prose, keywords=tuple(items[item] for item in batch))
                )
                for batch in batches
            )
        )
        return [
            ItemAnswer(step=RELEVANCE, item=item, answer=answer)
            for batch, answers in zip(batches, found, strict=True)
            for item, answer in zip(batch, answers, strict=True)
        ]

    def compute_figures(self, judged: JudgedReports, judge: Judge) -> pl.DataFrame:
        done = judged.reports.filter(pl.col("state") == "done")["assignment"]
        verdicts = _group_by_assignment(judged.verdicts, "step", "item", "status", "label")
        items = _group_by_assignment(judged.rubrics, "item", "dimension", "points")
        bundles = dict(judged.bundles.select("assignment", "settings").iter_rows())
        rows = [
            row
            for assignment in done
            for row in _build_rows(
                assignment,
                RigorousReport(
                    verdicts={(step, item): (status, label)
                          for step, item, status, label in verdicts.get(assignment, ())},
                    items=[RubricPoints(*item) for item in items.get(assignment, ())],
                    settings=BundleSettings.model_validate_json(bundles[assignment]),
                    judge=judge,
                    parameters=self.parameters,
                ),
            )
        ]  # fmt: skip
        return pl.DataFrame(rows, schema=FIGURE_SCHEMA, orient="row")


async def _grade_batch(
    question: str, report: str, batch: Sequence[Rubric], judge: Judge
) -> list[ItemAnswer]:
    items = tuple(
        RubricItem(id=item.item, text=item.text, allowed=ALLOWED_VALUES.validate_json(item.allowed))
        for item in batch
    )
    answers = await judge.decide(
        GradeItems(question=question, report=report, items=items, prompt=GRADE_ITEM)
    )
    return [
        ItemAnswer(step=item.dimension, item=item.item, answer=answer)
        for item, answer in zip(batch, answers, strict=True)
    ]


def _build_rows(assignment: str, report: RigorousReport) -> Iterable[tuple[Any, ...]]:
    for metric, found in report.compute_figures().items():
        numerator = None if found.value is None else found.value * found.n_items
        yield assignment, metric, numerator, found.n_items, found.n_open, found.reason


def _split_batches(items: Sequence[ItemT], size: int) -> list[Sequence[ItemT]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def _group_by_assignment(frame: pl.DataFrame, *columns: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of each assignment, in order."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    for assignment, *row in frame.select("assignment", *columns).iter_rows():
        found.setdefault(assignment, []).append(tuple(row))
    return found
