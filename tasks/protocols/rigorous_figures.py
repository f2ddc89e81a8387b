"""From one report's verdicts to the figures of Rigorous Bench.

A figure of one part rests on its decided items alone; `rigorous_evaluated_share` says how many
these are of all. A product of parts has no value while a part has none or waits for items.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import NamedTuple

from tasks.benchmarks.rigorous import GENERAL, QUERY
from tasks.judges.decisions import Decision, Judge
from tasks.judges.research import GradeItems, RateKeywords
from tasks.metrics.drift import Rated, presence, semantic_drift, weighted_presence
from tasks.metrics.integrated import (
    LinkCounts,
    integrated,
    per_token,
    quality,
    quality_share,
    retrieval_index,
    trust_boost,
)
from tasks.metrics.shares import share
from tasks.protocols.rigorous_evidence import (
    DEVIATION,
    FOCUS,
    FREQUENCY,
    LINKS,
    OPENED,
    SEARCHES,
    STEPS,
    TOKENS,
    UNSAID,
    USAGE,
    keyword_items,
)
from tasks.protocols.rigorous_parameters import (
    KeywordRule,
    RigorousParameters,
    keyword_rule,
    other_rules,
)
from tasks.warehouse.rows import OPEN_STATUSES, Status
from tasks.warehouse.rubrics import BundleSettings

RELEVANCE = "relevance"
Said = Mapping[tuple[str, str], tuple[str, str | None]]
"""(step, item) → status, label."""


@dataclass(frozen=True)
class Figure:
    """One figure of a report: its value or why there is none, and what it rests on."""

    value: float | None
    n_items: int = 0
    n_open: int = 0
    reason: str | None = None


class Item(NamedTuple):
    """An item of the rubric."""

    item: str
    dimension: str
    points: float


@dataclass(frozen=True)
class JudgedReport:
    """One report as it was judged."""

    said: Said
    items: Sequence[Item]
    settings: BundleSettings
    judge: Judge
    parameters: RigorousParameters

    def figures(self) -> dict[str, Figure]:
        """Metric → figure, for every metric of the protocol."""
        set_to, rule = self.parameters, keyword_rule(self.parameters)
        query, general = self._rubrics(QUERY), self._rubrics(GENERAL)
        rated = combined(
            lambda q, g: quality(q, g, set_to.query_weight), query=query, general=general
        )
        drift, boost = self._drift(rule), self._boost()
        score = combined(integrated, quality=rated, drift=drift, boost=boost)
        of_loss = combined(
            lambda q, d, b: quality_share(q, d, b, 1 + set_to.boost_most),
            "the report lacks nothing", quality=rated, drift=drift, boost=boost,
        )  # fmt: skip
        return {
            "rigorous_integrated": score,
            "rigorous_quality": rated,
            "rigorous_query_rubrics": query,
            "rigorous_general_rubrics": general,
            "rigorous_drift": drift,
            "rigorous_focus_drift": self._focus_drift(rule),
            "rigorous_deviation_drift": self._deviation_drift(rule),
            "rigorous_trust_boost": boost,
            "rigorous_quality_share": of_loss,
            "rigorous_evaluated_share": self._evaluated(),
            "rigorous_focus_frequency": self._presence(FOCUS, set_to.focus_epsilon),
            "rigorous_deviation_frequency": self._presence(DEVIATION, set_to.deviation_epsilon),
            **self._effort(score),
            **self._sensitivity(rated, boost),
        }

    def _effort(self, score: Figure) -> dict[str, Figure]:
        """What the report took, as far as its agent says."""
        tokens, opened = self._count(USAGE, TOKENS), self._count(USAGE, OPENED)
        return {
            "rigorous_per_token": combined(
                per_token, "the report took no tokens", score=score, tokens=tokens
            ),
            "rigorous_retrieval_index": combined(
                retrieval_index, cited=self._count(LINKS, "cited"), opened=opened
            ),
            "rigorous_output_tokens": tokens,
            "rigorous_searches": self._count(USAGE, SEARCHES),
            "rigorous_reasoning_steps": self._count(USAGE, STEPS),
        }

    def _sensitivity(self, rated: Figure, boost: Figure) -> dict[str, Figure]:
        """Drift and score as they would be, were what the paper leaves open set otherwise."""
        found: dict[str, Figure] = {}
        for name, rule in other_rules(self.parameters).items():
            drift = self._drift(rule)
            score = combined(integrated, quality=rated, drift=drift, boost=boost)
            found |= {f"rigorous_drift_{name}": drift, f"rigorous_integrated_{name}": score}
        return found

    def _rubrics(self, dimension: str) -> Figure:
        """Share of a dimension's points that its decided items were given."""
        items = [item for item in self.items if item.dimension == dimension]
        if not items:
            return Figure(None, reason=f"the rubric has no items of the dimension {dimension}")
        if reason := self._cannot(GradeItems):
            return Figure(None, reason=reason)
        said = [self._said(dimension, item.item) for item in items]
        graded = [
            (float(label), item.points)
            for item, (status, label) in zip(items, said, strict=True)
            if status == Status.OK and label is not None
        ]
        most = fsum(points for _, points in graded)
        value = fsum(given for given, _ in graded) / most if most else None
        return Figure(value, len(graded), _n_open(said), _undecided(said, value))

    def _evaluated(self) -> Figure:
        """Share of rubrics and keywords that the judge decided; those it never will count too."""
        if reason := self._cannot(GradeItems) or self._cannot(RateKeywords):
            return Figure(None, reason=reason)
        said = [self._said(item.dimension, item.item) for item in self.items]
        said += [self._said(RELEVANCE, item) for item in keyword_items(self.settings)]
        final = [status for status, _ in said if status not in OPEN_STATUSES]
        value = share(final.count(Status.OK), len(final))
        return Figure(value, len(final), _n_open(said), _undecided(said, value))

    def _drift(self, rule: KeywordRule) -> Figure:
        return combined(
            lambda f, d: semantic_drift(f, d, self.parameters.focus_weight),
            focus=self._focus_drift(rule), deviation=self._deviation_drift(rule),
        )  # fmt: skip

    def _focus_drift(self, rule: KeywordRule) -> Figure:
        found = self._weighted(FOCUS, rule.focus_epsilon, rule)
        return replace(found, value=None if found.value is None else 1 - found.value)

    def _deviation_drift(self, rule: KeywordRule) -> Figure:
        return self._weighted(DEVIATION, rule.deviation_epsilon, rule)

    def _weighted(self, kind: str, epsilon: float, rule: KeywordRule) -> Figure:
        items = self._keywords(kind)
        if not items:
            return Figure(None, reason=f"there are no {kind} keywords")
        if reason := self._cannot(RateKeywords):
            return Figure(None, reason=reason)
        said = [self._said(RELEVANCE, item) for item in items]
        rated = [
            Rated(self._counted(rule.counted, item), int(label))
            for item, (status, label) in zip(items, said, strict=True)
            if status == Status.OK and label is not None
        ]
        value = weighted_presence(rated, epsilon, rule.relevance)
        return Figure(value, len(rated), _n_open(said), _undecided(said, value))

    def _presence(self, kind: str, epsilon: float) -> Figure:
        items = self._keywords(kind)
        value = presence([self._counted(FREQUENCY, item) for item in items], epsilon)
        return Figure(value, len(items), reason=None if items else f"there are no {kind} keywords")

    def _boost(self) -> Figure:
        links = LinkCounts(*(self._counted(LINKS, name) for name in LinkCounts._fields))
        set_to = self.parameters
        return Figure(trust_boost(links, set_to.boost_weights, set_to.host_mode), 1)

    def _keywords(self, kind: str) -> list[str]:
        return [i for i in keyword_items(self.settings) if i.startswith(f"{kind}:")]

    def _counted(self, step: str, item: str) -> int:
        """A count that no model makes: it is there as soon as the report has been judged."""
        return int(self._said(step, item)[1] or 0)

    def _count(self, step: str, item: str) -> Figure:
        status, label = self._said(step, item)
        if status != Status.OK or label is None:
            return Figure(None, reason=f"not_assessed: {UNSAID.get(item, 'nobody counted it')}")
        return Figure(float(label), 1)

    def _cannot(self, decision: type[Decision]) -> str | None:
        if decision in self.judge.decides:
            return None
        return f"not_assessed: the judge {self.judge.name} cannot {decision.asks_to}"

    def _said(self, step: str, item: str) -> tuple[str, str | None]:
        return self.said.get((step, item), (Status.JUDGE_ERROR, None))


def combined(
    formula: Callable[..., float | None], empty: str | None = None, **parts: Figure
) -> Figure:
    """A figure of several, in this order; none while one of them has none or waits for items.

    empty: why it has none, where the formula gives none.
    """
    n_open = sum(part.n_open for part in parts.values())
    if n_open:
        return Figure(None, 0, n_open, f"waits for {n_open} open items")
    for name, part in parts.items():
        if part.value is None:
            return Figure(None, reason=part.reason or f"there is no {name}")
    value = formula(*(part.value for part in parts.values()))
    n_items = sum(part.n_items for part in parts.values())
    return Figure(None, reason=empty) if value is None else Figure(value, n_items)


def _n_open(said: Sequence[tuple[str, str | None]]) -> int:
    return sum(status in OPEN_STATUSES for status, _ in said)


def _undecided(said: Sequence[tuple[str, str | None]], value: float | None) -> str | None:
    """Why there is no value: what became of the items."""
    if value is not None:
        return None
    return f"no item is decided: {', '.join(sorted({str(status) for status, _ in said}))}"
