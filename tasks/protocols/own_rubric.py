"""A user's rubric as a protocol, defined by a YAML file.

An item is graded by a model, is a sentence that the report should support, or bounds a style
figure, which is counted without a judge. The score is Σ weight · (value − lowest) / (highest −
lowest) / Σ weight over the judged items; `assessed_share` is their share of all items. While items
are open it is provisional.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from math import inf

import polars as pl

from tasks.configuration.criteria import load_words_to_watch
from tasks.configuration.models import MetricEntry, Missing, ProtocolEntry
from tasks.configuration.rubrics import GRADE, KEY_POINT, OVERALL, ItemEntry, RubricEntry
from tasks.judges.decisions import (
    OMITTED,
    SUPPORTED,
    DecisionRequest,
    Judge,
    JudgeAnswer,
    explain_cannot,
)
from tasks.judges.llm.requests import ask_first_alone, split_batches
from tasks.judges.questions.check_points import CheckPoints
from tasks.judges.questions.grade_items import GradeItems, RubricItem
from tasks.metrics.ratios import SHARE_SCHEMA, weighted_mean
from tasks.protocols.case import (
    Case,
    ItemAnswer,
    JudgedReports,
    Protocol,
    gather_answers,
    name_answers,
)
from tasks.protocols.declarations import Bounds, build_version
from tasks.protocols.figures import build_figures, build_share
from tasks.warehouse.rows import OPEN_STATUSES, Status, canonical_values

ITEMS, POINTS, COUNTED = "items", "points", "counted"
"""Steps: graded by a model, supported by the report, counted."""
WITHIN, OUTSIDE = "within", "outside"
"""Labels of a style figure: whether it is within its item's bounds."""
SCORE, ASSESSED = f"rubric_{OVERALL}", "assessed_share"
NO_TEXT = "not_assessed: the report is no text"
KINDS = {
    "articles": ("write_article",),
    "research": ("research",),
    "both": ("write_article", "research"),
}


class OwnRubric(Protocol):
    """The protocol defined by a rubric's file."""

    prompts = "own_rubric"
    inputs: tuple[str, ...] = ("report", "query", "files")

    def __init__(self, name: str, rubric: RubricEntry) -> None:
        self.name = name
        self.rubric = rubric
        self.kinds = KINDS[rubric.assignments]
        self.metrics = tuple(_list_metrics(rubric))
        self.missing: Missing = "zero"
        ends = {
            item.id: (f"{min(item.allowed) + 0:g}", f"{max(item.allowed) + 0:g}")
            for item in rubric.items
            if item.check == GRADE
        }
        self.bounds = Bounds({POINTS: (OMITTED, SUPPORTED)}, items=ends)
        entry = ProtocolEntry(
            name=name, version=1, title=rubric.title, source=name, metrics=self.metrics
        )
        counts = any(item.check not in (GRADE, KEY_POINT) for item in rubric.items)
        settings = canonical_values(rubric, exclude={"title"})
        self.version = build_version(entry, settings, *([_get_style_version()] if counts else []))

    def supports(self, judge: Judge) -> bool:
        needed = {GRADE: GradeItems, KEY_POINT: CheckPoints}
        return any(
            item.check not in needed or needed[item.check] in judge.decides
            for item in self.rubric.items
        )

    async def judge(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        return await gather_answers(
            (
                self._grade_items(case, judge),
                self._check_points(case, judge),
                asyncio.to_thread(self._count_styles, case),
            )
        )

    async def _grade_items(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        items = [item for item in self.rubric.items if item.check == GRADE]
        batches = split_batches(items, self.rubric.items_per_call)
        answers = await ask_first_alone(partial(_grade_batch, case, judge), batches)
        return name_answers(ITEMS, (item.id for item in items), answers)

    async def _check_points(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        items = [item for item in self.rubric.items if item.check == KEY_POINT]
        if not items:
            return []
        names = (item.id for item in items)
        if case.attachments:
            nothing = JudgeAnswer(status=Status.NOT_ASSESSED, reason=NO_TEXT)
            return name_answers(POINTS, names, [nothing] * len(items))
        request = CheckPoints(
            question=case.question,
            report=case.report.text,
            points=tuple(item.text for item in items),
            prompt="own_rubric/check_points",
        )
        return name_answers(POINTS, names, await _ask_judge(judge, request))

    def _count_styles(self, case: Case) -> list[ItemAnswer]:
        items = [item for item in self.rubric.items if item.check not in (GRADE, KEY_POINT)]
        if not items:
            return []
        # This takes half a second to import, and most commands count nothing.
        from tasks.extraction.shape import measure_styles

        [figures] = measure_styles([case.report.text], load_words_to_watch())
        checked = (_check_bounds(item, figures[item.check].value) for item in items)
        return name_answers(COUNTED, (item.id for item in items), checked)

    def compute_figures(self, judged: JudgedReports, judge: Judge) -> pl.DataFrame:
        valued = self._add_worth(judged.verdicts)
        empty = "no item was judged"
        if not {GradeItems, CheckPoints} <= judge.decides:
            empty = explain_cannot(judge, "decide its items")
        parts = {SCORE: valued} | {
            _metric_name(dimension): valued.filter(pl.col("dimension") == dimension)
            for dimension in self.rubric.dimensions
        }
        scores = [
            build_figures(m, _compute_score(rows), judged, empty) for m, rows in parts.items()
        ]
        # Open items are left out, as in any share.
        is_open = pl.col("status").is_in(OPEN_STATUSES)
        final = pl.when(is_open).then("status").otherwise(pl.lit("ok"))
        all_final = valued.with_columns(status=final, was=pl.col("status"))
        share = build_share(ASSESSED, all_final, pl.col("was") == "ok", judged, empty)
        return pl.concat([*scores, share])

    def count_missing(self, judged: JudgedReports, judge: Judge) -> dict[str, dict[str, int]]:
        needed = {GRADE: GradeItems, KEY_POINT: CheckPoints}
        asked = Counter(
            item.dimension
            for item in self.rubric.items
            if item.check not in needed or needed[item.check] in judge.decides
        )
        counts = {SCORE: asked.total()} | {
            _metric_name(dimension): asked[dimension] for dimension in self.rubric.dimensions
        }
        return {name: dict.fromkeys(judged.missing, n) for name, n in counts.items()}

    def _add_worth(self, verdicts: pl.DataFrame) -> pl.DataFrame:
        """Add to each verdict its worth, 0-1, and its item's weight and dimension. Verdicts on
        items that the rubric does not have are left out."""
        items = {item.id: item for item in self.rubric.items}
        verdicts = verdicts.filter(pl.col("item").is_in([*items]))
        rows = [(items[item], label) for item, label in verdicts.select("item", "label").rows()]
        return verdicts.with_columns(
            pl.Series("worth", [_compute_worth(item, label) for item, label in rows], pl.Float64),
            pl.Series("weight", [item.weight for item, _ in rows], pl.Float64),
            pl.Series("dimension", [item.dimension for item, _ in rows], pl.String),
        )


async def _grade_batch(
    case: Case, judge: Judge, items: Sequence[ItemEntry]
) -> Sequence[JudgeAnswer]:
    rubric_items = tuple(
        RubricItem(
            id=item.id,
            text=item.text,
            allowed=tuple(f"{value + 0:g}" for value in item.allowed),
            instructions=item.instructions,
        )
        for item in items
    )
    request = GradeItems(
        question=case.question,
        report=case.report.text,
        items=rubric_items,
        attachments=case.attachments,
        asked_once=True,
        prompt="own_rubric/grade_items",
    )
    return await _ask_judge(judge, request)


async def _ask_judge(judge: Judge, request: DecisionRequest) -> Sequence[JudgeAnswer]:
    if type(request) in judge.decides:
        return await judge.decide(request)
    cannot = explain_cannot(judge, request.action)
    return [JudgeAnswer(status=Status.NOT_ASSESSED, reason=cannot)] * request.n_items


def _check_bounds(item: ItemEntry, value: float | None) -> JudgeAnswer:
    """Check whether a style figure is within its item's bounds, inclusive."""
    if value is None:
        return JudgeAnswer(
            status=Status.NOT_ASSESSED, reason="not_assessed: the report has no words"
        )
    low = -inf if item.at_least is None else item.at_least
    high = inf if item.at_most is None else item.at_most
    bounds = " and ".join(
        f"{word} {bound:g}"
        for word, bound in (("at least", item.at_least), ("at most", item.at_most))
        if bound is not None
    )
    return JudgeAnswer(
        status=Status.OK,
        label=WITHIN if low <= value <= high else OUTSIDE,
        reason=f"counted, no judge asked: {item.check} is {value:.4g}, wanted is {bounds}",
    )


def _compute_worth(item: ItemEntry, label: str | None) -> float | None:
    """Return what a label is worth, 0-1; None without a label."""
    if label is None:
        return None
    if item.check != GRADE:
        return float(label in (SUPPORTED, WITHIN))
    low, high = min(item.allowed), max(item.allowed)
    return (float(label) - low) / (high - low)


def _compute_score(valued: pl.DataFrame) -> pl.DataFrame:
    """Return the weighted mean worth of each report's judged items, a frame of SHARE_SCHEMA."""
    rows = []
    for (assignment,), group in valued.group_by("assignment", maintain_order=True):
        judged = group.filter(pl.col("status") == "ok")
        value = weighted_mean(judged.select("worth", "weight").rows())
        n_open = group["status"].is_in(OPEN_STATUSES).sum()
        numerator = None if value is None else value * judged.height
        rows.append((assignment, numerator, judged.height, n_open))
    return pl.DataFrame(rows, schema=SHARE_SCHEMA, orient="row")


def _metric_name(dimension: str) -> str:
    return f"rubric_{dimension}"


def _list_metrics(rubric: RubricEntry) -> Iterator[MetricEntry]:
    """Yield the score, the share of judged items, and a score for each dimension."""
    how = "by weight, of what each judged item is worth: 0 its lowest value, 1 its highest"
    yield _build_metric(SCORE, "Score", f"Mean, {how}.", zero_if_missing=True)
    yield _build_metric(
        ASSESSED, "Assessed", "Share of the items that were judged, on which all rests."
    )
    for dimension in rubric.dimensions:
        items = ", ".join(item.id for item in rubric.items if item.dimension == dimension)
        title = dimension.replace("_", " ").capitalize()
        yield _build_metric(
            _metric_name(dimension),
            title,
            f"The same over the items of {dimension}: {items}.",
            zero_if_missing=True,
        )


def _build_metric(
    name: str, title: str, description: str, *, zero_if_missing: bool = False
) -> MetricEntry:
    return MetricEntry(
        name=name,
        title=title,
        aggregate="macro",
        better="higher",
        description=description,
        zero_if_missing=zero_if_missing,
    )


def _get_style_version() -> str:
    from tasks.metrics.style import STYLE_VERSION

    return STYLE_VERSION
