"""Compute the figures of Rigorous Bench from one report's verdicts.

A single part's figure rests on its decided items only; `rigorous_evaluated_share` is their share. A
combined figure has no value while a part has none or has open items.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import NamedTuple

from tasks.benchmarks.rigorous import GENERAL, QUERY
from tasks.judges.decisions import DecisionRequest, Judge, explain_cannot
from tasks.judges.questions.grade_items import GradeItems
from tasks.judges.questions.rate_keywords import RateKeywords
from tasks.metrics.integrated_score import (
    LinkCounts,
    RatedKeyword,
    integrated_score,
    presence,
    quality,
    quality_share,
    retrieval_index,
    score_per_token,
    semantic_drift,
    trust_boost,
    weighted_presence,
)
from tasks.metrics.ratios import share
from tasks.protocols.figures import FigureValues, VerdictLabels
from tasks.protocols.rigorous.evidence import (
    DEVIATION,
    FOCUS,
    FREQUENCY,
    LINKS,
    MISSING_USAGE,
    OPENED,
    SEARCHES,
    STEPS,
    TOKENS,
    USAGE,
    number_keywords,
)
from tasks.protocols.rigorous.parameters import (
    KeywordRule,
    RigorousParameters,
    alternative_rules,
    keyword_rule,
)
from tasks.warehouse.rows import OPEN_STATUSES, Status
from tasks.warehouse.rubrics import BundleSettings

RELEVANCE = "relevance"


@dataclass(frozen=True)
class ReportFigure:
    """One figure of a report: its value or the reason why there is none, and its items."""

    value: float | None
    n_items: int = 0
    n_open: int = 0
    reason: str | None = None

    def to_values(self) -> FigureValues:
        """Return the figure as a row, whose numerator is a sum over the items."""
        numerator = None if self.value is None else self.value * self.n_items
        return FigureValues(numerator, self.n_items, self.n_open, self.reason)


class RubricPoints(NamedTuple):
    """An item of the rubric."""

    item: str
    dimension: str
    points: float


@dataclass(frozen=True)
class RigorousReport:
    """One judged report."""

    verdicts: VerdictLabels
    items: Sequence[RubricPoints]
    settings: BundleSettings
    judge: Judge
    parameters: RigorousParameters

    def compute_figures(self) -> dict[str, ReportFigure]:
        """Return metric → figure, for every metric of the protocol."""
        set_to, rule = self.parameters, keyword_rule(self.parameters)
        query, general = self._score_rubrics(QUERY), self._score_rubrics(GENERAL)
        rated = combine_figures(
            lambda q, g: quality(q, g, set_to.query_weight), query=query, general=general
        )
        drift = self._compute_drift(rule)
        links = LinkCounts(*(self._get_count(LINKS, name) for name in LinkCounts._fields))
        boost = ReportFigure(trust_boost(links, set_to.boost_weights, set_to.host_mode), 1)
        score = combine_figures(integrated_score, quality=rated, drift=drift, boost=boost)
        of_loss = combine_figures(
            lambda q, d, b: quality_share(q, d, b, 1 + set_to.boost_most),
            "the report lacks nothing",
            quality=rated,
            drift=drift,
            boost=boost,
        )
        return {
            "rigorous_integrated": score,
            "rigorous_quality": rated,
            "rigorous_query_rubrics": query,
            "rigorous_general_rubrics": general,
            "rigorous_drift": drift,
            "rigorous_focus_drift": self._compute_focus_drift(rule),
            "rigorous_deviation_drift": self._compute_deviation_drift(rule),
            "rigorous_trust_boost": boost,
            "rigorous_quality_share": of_loss,
            "rigorous_evaluated_share": self._compute_evaluated_share(),
            "rigorous_focus_frequency": self._compute_presence(FOCUS, set_to.focus_epsilon),
            "rigorous_deviation_frequency": self._compute_presence(
                DEVIATION, set_to.deviation_epsilon
            ),
            **self._compute_effort(score),
            **self._compute_sensitivity(rated, boost),
        }

    def _compute_effort(self, score: ReportFigure) -> dict[str, ReportFigure]:
        """Compute the figures of the resources that the report took, as far as its agent reports
        them."""
        tokens = self._build_count_figure(USAGE, TOKENS)
        opened = self._build_count_figure(USAGE, OPENED)
        return {
            "rigorous_per_token": combine_figures(
                score_per_token, "the report took no tokens", score=score, tokens=tokens
            ),
            "rigorous_retrieval_index": combine_figures(
                retrieval_index, cited=self._build_count_figure(LINKS, "cited"), opened=opened
            ),
            "rigorous_output_tokens": tokens,
            "rigorous_searches": self._build_count_figure(USAGE, SEARCHES),
            "rigorous_reasoning_steps": self._build_count_figure(USAGE, STEPS),
        }

    def _compute_sensitivity(
        self, rated: ReportFigure, boost: ReportFigure
    ) -> dict[str, ReportFigure]:
        """Compute drift and score with other settings of what the paper leaves open."""
        found: dict[str, ReportFigure] = {}
        for name, rule in alternative_rules(self.parameters).items():
            drift = self._compute_drift(rule)
            score = combine_figures(integrated_score, quality=rated, drift=drift, boost=boost)
            found |= {f"rigorous_drift_{name}": drift, f"rigorous_integrated_{name}": score}
        return found

    def _score_rubrics(self, dimension: str) -> ReportFigure:
        """Return the share of points that a dimension's decided items got."""
        items = [item for item in self.items if item.dimension == dimension]
        if not items:
            return ReportFigure(
                None, reason=f"the rubric has no items of the dimension {dimension}"
            )
        if reason := self._explain_cannot(GradeItems):
            return ReportFigure(None, reason=reason)
        verdicts = [self._get_verdict(dimension, item.item) for item in items]
        graded = [
            (float(label), item.points)
            for item, (status, label) in zip(items, verdicts, strict=True)
            if status == Status.OK and label is not None
        ]
        most = fsum(points for _, points in graded)
        value = fsum(given for given, _ in graded) / most if most else None
        return _build_figure(value, len(graded), verdicts)

    def _compute_evaluated_share(self) -> ReportFigure:
        """Return the share of rubrics and keywords that the judge decided; those that it cannot
        decide count in the denominator."""
        if reason := self._explain_cannot(GradeItems) or self._explain_cannot(RateKeywords):
            return ReportFigure(None, reason=reason)
        verdicts = [self._get_verdict(item.dimension, item.item) for item in self.items]
        verdicts += [self._get_verdict(RELEVANCE, item) for item in number_keywords(self.settings)]
        final = [status for status, _ in verdicts if status not in OPEN_STATUSES]
        value = share(final.count(Status.OK), len(final))
        return _build_figure(value, len(final), verdicts)

    def _compute_drift(self, rule: KeywordRule) -> ReportFigure:
        return combine_figures(
            lambda f, d: semantic_drift(f, d, self.parameters.focus_weight),
            focus=self._compute_focus_drift(rule),
            deviation=self._compute_deviation_drift(rule),
        )

    def _compute_focus_drift(self, rule: KeywordRule) -> ReportFigure:
        found = self._compute_weighted_presence(FOCUS, rule.focus_epsilon, rule)
        return replace(found, value=None if found.value is None else 1 - found.value)

    def _compute_deviation_drift(self, rule: KeywordRule) -> ReportFigure:
        return self._compute_weighted_presence(DEVIATION, rule.deviation_epsilon, rule)

    def _compute_weighted_presence(
        self, kind: str, epsilon: float, rule: KeywordRule
    ) -> ReportFigure:
        items = self._list_keywords(kind)
        if not items:
            return ReportFigure(None, reason=f"there are no {kind} keywords")
        if reason := self._explain_cannot(RateKeywords):
            return ReportFigure(None, reason=reason)
        verdicts = [self._get_verdict(RELEVANCE, item) for item in items]
        rated = [
            RatedKeyword(self._get_count(rule.counted, item), int(label))
            for item, (status, label) in zip(items, verdicts, strict=True)
            if status == Status.OK and label is not None
        ]
        value = weighted_presence(rated, epsilon, rule.relevance)
        return _build_figure(value, len(rated), verdicts)

    def _compute_presence(self, kind: str, epsilon: float) -> ReportFigure:
        items = self._list_keywords(kind)
        value = presence([self._get_count(FREQUENCY, item) for item in items], epsilon)
        return ReportFigure(
            value, len(items), reason=None if items else f"there are no {kind} keywords"
        )

    def _list_keywords(self, kind: str) -> list[str]:
        return [i for i in number_keywords(self.settings) if i.startswith(f"{kind}:")]

    def _get_count(self, step: str, item: str) -> int:
        """Return a count that needs no model, so that every judged report has it."""
        return int(self._get_verdict(step, item)[1] or 0)

    def _build_count_figure(self, step: str, item: str) -> ReportFigure:
        status, label = self._get_verdict(step, item)
        if status != Status.OK or label is None:
            return ReportFigure(
                None, reason=f"not_assessed: {MISSING_USAGE.get(item, 'nobody counted it')}"
            )
        return ReportFigure(float(label), 1)

    def _explain_cannot(self, decision: type[DecisionRequest]) -> str | None:
        if decision in self.judge.decides:
            return None
        return explain_cannot(self.judge, decision.action)

    def _get_verdict(self, step: str, item: str) -> tuple[str, str | None]:
        return self.verdicts.get((step, item), (Status.JUDGE_ERROR, None))


def combine_figures(
    formula: Callable[..., float | None], empty: str | None = None, **parts: ReportFigure
) -> ReportFigure:
    """Combine figures by a formula, in this order; no value while one has none or has open items.

    Args:
        empty: The reason if the formula gives None.
    """
    n_open = sum(part.n_open for part in parts.values())
    if n_open:
        return ReportFigure(None, 0, n_open, f"waits for {n_open} open items")
    for name, part in parts.items():
        if part.value is None:
            return ReportFigure(None, reason=part.reason or f"there is no {name}")
    value = formula(*(part.value for part in parts.values()))
    n_items = sum(part.n_items for part in parts.values())
    return ReportFigure(None, reason=empty) if value is None else ReportFigure(value, n_items)


def _build_figure(
    value: float | None, n_items: int, verdicts: Sequence[tuple[str, str | None]]
) -> ReportFigure:
    """Return the figure of these verdicts; without a value, the reason names their statuses."""
    statuses = [str(status) for status, _ in verdicts]
    n_open = sum(status in OPEN_STATUSES for status in statuses)
    undecided = f"no item is decided: {', '.join(sorted({*statuses}))}"
    return ReportFigure(value, n_items, n_open, undecided if value is None else None)
