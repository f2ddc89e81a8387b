"""RACE: how good is a report relative to a reference, by weighted criteria?

Source: DeepResearch Bench (arXiv 2506.11763 and its published code). A judge scores both articles
by each criterion from 0 to 10, all in one call, the report first. A dimension is the weighted mean
of its criteria, the total that of the dimensions, and a figure the report's share of both articles'
totals. Criteria are identified by id; the published code looks for their texts in the answer and
uses a mean weight if it does not find one.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import polars as pl

from tasks.configuration.criteria import load_weighted_criteria
from tasks.configuration.loading import ConfigModel
from tasks.configuration.models import ProtocolEntry
from tasks.extraction.prose import strip_apparatus
from tasks.judges.decisions import REFERENCE, REPORT, Criterion, Judge
from tasks.judges.questions.score_pair import ScorePair
from tasks.metrics.ratios import ScoredPair, relative_score
from tasks.protocols.case import Case, ItemAnswer, JudgedReports, Protocol, gather_answers
from tasks.protocols.declarations import RATINGS, Bounds, build_version, parse_parameters
from tasks.protocols.figures import FigureValues, VerdictLabels, compute_by_report
from tasks.warehouse.rows import OPEN_STATUSES, canonical_values
from tasks.warehouse.rubrics import BundleSettings, Rubric

DIMENSIONS = ("comprehensiveness", "insight", "instruction_following", "readability")
OVERALL = "race_overall"
SECOND = " report_second"
"""Suffix of the item's id if the report came second."""
EMPTY = "no criterion was decided"
NO_WEIGHT = "no decided criterion has weight"
BOTH_ZERO = "both articles got 0 by every criterion that has weight"


class RaceParameters(ConfigModel):
    criteria: str
    """File of general criteria, for assignments without their own; relative to `configs/` or
    absolute."""
    order: Literal["report_first", "both"] = "report_first"
    """Which article comes first: the report as published, or each once."""


class RaceCriterion(NamedTuple):
    """A criterion with its weight."""

    id: str
    text: str
    dimension: str
    weight: float


class Race(Protocol):
    """Scores a report relative to its reference."""

    name = "race"
    prompts = "race"
    inputs: tuple[str, ...] = ("article", "report", "query", "criteria")
    kinds: tuple[str, ...] = ("write_article", "research")
    bounds = Bounds(none={REPORT: RATINGS, REFERENCE: RATINGS})

    def __init__(self, entry: ProtocolEntry) -> None:
        self.metrics, self.missing = entry.metrics, entry.missing
        self.parameters = parse_parameters(entry, RaceParameters)
        general = load_weighted_criteria(self.parameters.criteria)
        self.general = [
            RaceCriterion(criterion.id, criterion.text, dimension.id, criterion.weight)
            for dimension in general.dimensions
            for criterion in dimension.criteria
        ]
        self.general_weights = {each.id: each.weight for each in general.dimensions}
        self.version = build_version(entry, canonical_values(general), self.parameters.order)

    def supports(self, judge: Judge) -> bool:
        return ScorePair in judge.decides

    async def judge(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        orders = (True, False) if self.parameters.order == "both" else (True,)
        return await gather_answers(self._judge_order(case, judge, first) for first in orders)

    async def _judge_order(self, case: Case, judge: Judge, report_first: bool) -> list[ItemAnswer]:
        """Judge both articles in one order: two verdicts per criterion, with the step `report` or
        `reference`."""
        criteria = [_to_criterion(rubric) for rubric in case.rubric] or self.general
        answers = await judge.decide(
            ScorePair(
                task=case.question,
                report=strip_apparatus(case.report.text),
                reference=strip_apparatus(case.reference.text),
                criteria=tuple(Criterion(id=each.id, text=each.text) for each in criteria),
                report_first=report_first,
            )
        )
        suffix = "" if report_first else SECOND
        items = [(step, each.id + suffix) for each in criteria for step in (REPORT, REFERENCE)]
        return [
            ItemAnswer(step=step, item=item, answer=answer)
            for (step, item), answer in zip(items, answers, strict=True)
        ]

    def compute_figures(self, judged: JudgedReports, judge: Judge) -> pl.DataFrame:
        own, own_weights = _collect_own_criteria(judged)

        def compute(assignment: str, verdicts: VerdictLabels) -> dict[str, FigureValues]:
            criteria = own.get(assignment, self.general)
            weights = own_weights.get(assignment, self.general_weights)
            scored, n_open = _collect_scores(verdicts, criteria)
            figures = {OVERALL: _compute_figure(scored, n_open.total(), weights)}
            for dimension in DIMENSIONS:
                pairs = [pair for pair in scored if pair.dimension == dimension]
                figures[f"race_{dimension}"] = _compute_figure(
                    pairs, n_open[dimension], {dimension: 1.0}
                )
            return figures

        return compute_by_report(judged, compute)

    def count_missing(self, judged: JudgedReports, judge: Judge) -> dict[str, dict[str, int]]:
        if ScorePair not in judge.decides:
            return {}
        own, _ = _collect_own_criteria(judged)
        counts = {name: Counter[str]() for name in (OVERALL, *DIMENSIONS)}
        for assignment in judged.missing:
            for criterion in own.get(assignment, self.general):
                counts[OVERALL][assignment] += 1
                counts[criterion.dimension][assignment] += 1
        return {
            name if name == OVERALL else f"race_{name}": dict(found)
            for name, found in counts.items()
        }


def _to_criterion(rubric: Rubric) -> RaceCriterion:
    text = f"{rubric.text}: {rubric.explanation}" if rubric.explanation else rubric.text
    return RaceCriterion(rubric.item, text, rubric.dimension, rubric.weight)


def _collect_scores(
    verdicts: VerdictLabels, criteria: Sequence[RaceCriterion]
) -> tuple[list[ScoredPair], Counter[str]]:
    """Return the scores by criteria decided for both articles, one per order, and the number of
    open criteria by dimension."""
    by_id = {criterion.id: criterion for criterion in criteria}
    scored, n_open = [], Counter[str]()
    for item in sorted({item for _, item in verdicts}):
        criterion = by_id[item.removesuffix(SECOND)]
        report, reference = verdicts[REPORT, item], verdicts[REFERENCE, item]
        statuses = {report[0], reference[0]}
        n_open[criterion.dimension] += bool(statuses & OPEN_STATUSES)
        if statuses == {"ok"}:
            scored.append(
                ScoredPair(
                    dimension=criterion.dimension,
                    weight=criterion.weight,
                    report=float(report[1] or 0),
                    reference=float(reference[1] or 0),
                )
            )
    return scored, n_open


def _compute_figure(
    scored: Sequence[ScoredPair], n_open: int, weights: Mapping[str, float]
) -> FigureValues:
    value = relative_score(scored, weights)
    if value is None:
        weighty = any(pair.weight and weights.get(pair.dimension) for pair in scored)
        reason = (BOTH_ZERO if weighty else NO_WEIGHT) if scored else EMPTY
        return FigureValues(None, 0, n_open, reason)
    return FigureValues(value * len(scored), len(scored), n_open)


def _collect_own_criteria(
    judged: JudgedReports,
) -> tuple[dict[str, list[RaceCriterion]], dict[str, dict[str, float]]]:
    """Return, for assignments with their own criteria, these and the weights of the dimensions."""
    criteria: dict[str, list[RaceCriterion]] = {}
    columns = ("assignment", "item", "dimension", "weight")
    for assignment, item, dimension, weight in judged.rubrics.select(columns).iter_rows():
        criteria.setdefault(assignment, []).append(RaceCriterion(item, "", dimension, weight))
    weights = {
        assignment: BundleSettings.model_validate_json(settings).dimension_weights
        for assignment, settings in judged.bundles.iter_rows()
    }
    return criteria, weights
