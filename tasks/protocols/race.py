"""RACE: how good is a report beside a reference, by weighted criteria?

Source: DeepResearch Bench (arXiv 2506.11763 and its published code). A judge scores both articles
by each criterion from 0 to 10, all in one call, the report first. A dimension is the mean by
weight of its criteria, the total that of the dimensions, and a figure the report's share of both
articles' totals. Criteria are told apart by their ids; the published code looks for their texts in
the answer, and takes a mean weight where it does not find one.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import polars as pl

from tasks.configuration.loading import Configured
from tasks.configuration.models import ProtocolEntry
from tasks.configuration.weighted_criteria import load_weighted_criteria
from tasks.extraction.prose import without_apparatus
from tasks.judges.decisions import REFERENCE, REPORT, Criterion, Judge
from tasks.judges.research import ScorePair
from tasks.metrics.beside import ScoredPair, share_beside
from tasks.protocols.case import FIGURES, Case, Decided, Judged
from tasks.protocols.versions import checked_parameters, version_of
from tasks.warehouse.rows import OPEN_STATUSES, canonical_values
from tasks.warehouse.rubrics import BundleSettings, Rubric

DIMENSIONS = ("comprehensiveness", "insight", "instruction_following", "readability")
OVERALL = "race_overall"
SECOND = " report_second"
"""After the item's id, where the report stood second."""
EMPTY = "no criterion was decided"
NO_WEIGHT = "no decided criterion has weight"
BOTH_ZERO = "both articles got 0 by every criterion that has weight"


class RaceParameters(Configured):
    criteria: str
    """General criteria, for assignments without their own; relative to `configs/` or absolute."""
    order: Literal["report_first", "both"] = "report_first"
    """Which article stands first: the report as published, or each once."""


class Weighed(NamedTuple):
    """A criterion with what it counts."""

    id: str
    text: str
    dimension: str
    weight: float


class Race:
    """One report beside its reference."""

    name = "race"
    prompts = "race"
    inputs: tuple[str, ...] = ("article", "report", "query", "criteria")
    kinds: tuple[str, ...] = ("write_article", "research")

    def __init__(self, entry: ProtocolEntry) -> None:
        self.metrics = entry.metrics
        self.parameters = checked_parameters(entry, RaceParameters)
        general = load_weighted_criteria(self.parameters.criteria)
        self.general = [
            Weighed(criterion.id, criterion.text, dimension.id, criterion.weight)
            for dimension in general.dimensions
            for criterion in dimension.criteria
        ]
        self.general_weights = {each.id: each.weight for each in general.dimensions}
        self.version = version_of(entry, canonical_values(general), self.parameters.order)

    def assesses(self, judge: Judge) -> bool:
        return ScorePair in judge.decides

    async def judge(self, case: Case, judge: Judge) -> list[Decided]:
        orders = (True, False) if self.parameters.order == "both" else (True,)
        found = await asyncio.gather(*(self._in_order(case, judge, first) for first in orders))
        return [decided for each in found for decided in each]

    async def _in_order(self, case: Case, judge: Judge, report_first: bool) -> list[Decided]:
        """Two verdicts a criterion, with the step `report` or `reference`."""
        criteria = [_of_rubric(rubric) for rubric in case.rubric] or self.general
        answers = await judge.decide(
            ScorePair(
                task=case.question,
                report=without_apparatus(case.report.text),
                reference=without_apparatus(case.reference.text),
                criteria=tuple(Criterion(id=each.id, text=each.text) for each in criteria),
                report_first=report_first,
            )
        )
        suffix = "" if report_first else SECOND
        items = [(step, each.id + suffix) for each in criteria for step in (REPORT, REFERENCE)]
        return [
            Decided(step=step, item=item, answer=answer)
            for (step, item), answer in zip(items, answers, strict=True)
        ]

    def figures(self, judged: Judged, judge: Judge) -> pl.DataFrame:
        by_report = _by_report(judged.verdicts)
        own, own_weights = _own_weights(judged)
        rows: list[tuple[object, ...]] = []
        for assignment in judged.reports.filter(pl.col("state") == "done")["assignment"]:
            criteria = own.get(assignment, self.general)
            weights = own_weights.get(assignment, self.general_weights)
            scored, n_open = _scored(by_report.get(assignment, {}), criteria)
            rows.append((assignment, OVERALL, *_figure(scored, n_open, weights)))
            for dimension in DIMENSIONS:
                rows.append(
                    (
                        assignment,
                        f"race_{dimension}",
                        *_figure(
                            [pair for pair in scored if pair.dimension == dimension],
                            Counter({dimension: n_open[dimension]}),
                            {dimension: 1.0},
                        ),
                    )
                )
        return pl.DataFrame(rows, schema=FIGURES, orient="row")


def _of_rubric(rubric: Rubric) -> Weighed:
    text = f"{rubric.text}: {rubric.explanation}" if rubric.explanation else rubric.text
    return Weighed(rubric.item, text, rubric.dimension, rubric.weight)


Scores = Mapping[str, Mapping[str, tuple[str, str | None]]]
"""Item → step → status and label."""


def _by_report(verdicts: pl.DataFrame) -> Mapping[str, Scores]:
    found: dict[str, dict[str, dict[str, tuple[str, str | None]]]] = {}
    columns = ("assignment", "item", "step", "status", "label")
    for assignment, item, step, *said in verdicts.select(columns).iter_rows():
        found.setdefault(assignment, {}).setdefault(item, {})[step] = (said[0], said[1])
    return found


def _scored(scores: Scores, criteria: Sequence[Weighed]) -> tuple[list[ScoredPair], Counter[str]]:
    """The criteria by which both articles were scored, once for each order; and how many are still
    open, by dimension."""
    by_id = {criterion.id: criterion for criterion in criteria}
    scored, n_open = [], Counter[str]()
    for item, said in sorted(scores.items()):
        criterion = by_id[item.removesuffix(SECOND)]
        statuses = {status for status, _ in said.values()}
        n_open[criterion.dimension] += bool(statuses & OPEN_STATUSES)
        if statuses == {"ok"}:
            values = {step: float(label or 0) for step, (_, label) in said.items()}
            scored.append(
                ScoredPair(
                    dimension=criterion.dimension,
                    weight=criterion.weight,
                    report=values[REPORT],
                    reference=values[REFERENCE],
                )
            )
    return scored, n_open


def _figure(
    scored: Sequence[ScoredPair], n_open: Counter[str], weights: Mapping[str, float]
) -> tuple[float | None, int, int, str | None]:
    """Numerator, items, open items, reason."""
    value = share_beside(scored, weights)
    if value is None:
        return None, 0, n_open.total(), _why_none(scored, weights)
    return value * len(scored), len(scored), n_open.total(), None


def _why_none(scored: Sequence[ScoredPair], weights: Mapping[str, float]) -> str:
    if not scored:
        return EMPTY
    weighty = any(pair.weight and weights.get(pair.dimension) for pair in scored)
    return BOTH_ZERO if weighty else NO_WEIGHT


def _own_weights(judged: Judged) -> tuple[dict[str, list[Weighed]], dict[str, dict[str, float]]]:
    """Of assignments with criteria of their own: these, and the weights of their dimensions."""
    criteria: dict[str, list[Weighed]] = {}
    columns = ("assignment", "item", "dimension", "weight")
    for assignment, item, dimension, weight in judged.rubrics.select(columns).iter_rows():
        criteria.setdefault(assignment, []).append(Weighed(item, "", dimension, weight))
    weights = {
        assignment: BundleSettings.model_validate_json(settings).dimension_weights
        for assignment, settings in judged.bundles.iter_rows()
    }
    return criteria, weights
