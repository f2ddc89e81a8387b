"""A rubric of one's own as a protocol: what its YAML file asks, item by item.

An item is graded by a model, or it is a sentence that the report should support, or it sets
bounds to a style figure, which is counted and needs no judge. The score is Σ weight · (value −
lowest) / (highest − lowest) / Σ weight over the items that were judged; `assessed_share` says how
many of all items these are. Items that are still open leave it provisional.
"""

import asyncio
from collections.abc import Iterator, Sequence
from math import inf

import polars as pl

from tasks.configuration.models import MetricEntry, ProtocolEntry
from tasks.configuration.rubrics import GRADE, KEY_POINT, OVERALL, ItemEntry, RubricEntry
from tasks.configuration.words import load_words_to_watch
from tasks.judges.decisions import Answer, Decision, Judge
from tasks.judges.research import SUPPORTED, CheckPoints, GradeItems, RubricItem
from tasks.metrics.shares import SHARES, shares
from tasks.metrics.weighted import weighted_mean
from tasks.protocols.case import Case, Decided, Judged, figures_of
from tasks.protocols.versions import version_of
from tasks.warehouse.rows import OPEN_STATUSES, Status, canonical_values

ITEMS, POINTS, COUNTED = "items", "points", "counted"
"""Steps: what a model grades, what the report should support, what is counted."""
WITHIN, OUTSIDE = "within", "outside"
"""Of a style figure: whether it is in the bounds of its item."""
SCORE, ASSESSED = f"rubric_{OVERALL}", "assessed_share"
NO_TEXT = "not_assessed: the report is no text"
KINDS = {
    "articles": ("write_article",),
    "research": ("research",),
    "both": ("write_article", "research"),
}


class OwnRubric:
    """The protocol that a rubric's file describes."""

    prompts = "own_rubric"
    inputs: tuple[str, ...] = ("report", "query", "files")

    def __init__(self, name: str, rubric: RubricEntry) -> None:
        self.name = name
        self.rubric = rubric
        self.kinds = KINDS[rubric.assignments]
        self.metrics = tuple(_metrics(rubric))
        entry = ProtocolEntry(
            name=name, version=1, title=rubric.title, source=name, metrics=self.metrics
        )
        counts = any(item.check not in (GRADE, KEY_POINT) for item in rubric.items)
        said = canonical_values(rubric, exclude={"title"})
        self.version = version_of(entry, said, *([_style_version()] if counts else []))

    def assesses(self, judge: Judge) -> bool:
        needed = {GRADE: GradeItems, KEY_POINT: CheckPoints}
        return any(
            item.check not in needed or needed[item.check] in judge.decides
            for item in self.rubric.items
        )

    async def judge(self, case: Case, judge: Judge) -> list[Decided]:
        found = await asyncio.gather(
            self._graded(case, judge),
            self._points(case, judge),
            asyncio.to_thread(self._counted, case),
        )
        return [decided for part in found for decided in part]

    async def _graded(self, case: Case, judge: Judge) -> list[Decided]:
        """A batch a call: the first alone, so that a provider's cache holds the report when the
        others come."""
        items = [item for item in self.rubric.items if item.check == GRADE]
        size = self.rubric.items_per_call
        batches = [items[start : start + size] for start in range(0, len(items), size)]
        if not batches:
            return []
        answered = [await _grades(case, judge, batches[0])]
        answered += await asyncio.gather(*(_grades(case, judge, each) for each in batches[1:]))
        answers = [answer for each in answered for answer in each]
        return _decided(ITEMS, items, answers)

    async def _points(self, case: Case, judge: Judge) -> list[Decided]:
        items = [item for item in self.rubric.items if item.check == KEY_POINT]
        if not items:
            return []
        if case.attachments:
            nothing = Answer(status=Status.NOT_ASSESSED, reason=NO_TEXT)
            return _decided(POINTS, items, [nothing] * len(items))
        request = CheckPoints(
            question=case.question,
            report=case.report.text,
            points=tuple(item.text for item in items),
            prompt="own_rubric/check_points",
        )
        return _decided(POINTS, items, await _asked(judge, request))

    def _counted(self, case: Case) -> list[Decided]:
        items = [item for item in self.rubric.items if item.check not in (GRADE, KEY_POINT)]
        if not items:
            return []
        # Only here: it takes half a second to import, and most commands count nothing.
        from tasks.extraction.shape import style_figures

        [figures] = style_figures([case.report.text], load_words_to_watch())
        return _decided(COUNTED, items, [_bounded(i, figures[i.check].value) for i in items])

    def figures(self, judged: Judged, judge: Judge) -> pl.DataFrame:
        valued = self._valued(judged.verdicts)
        empty = "no item was judged"
        if not {GradeItems, CheckPoints} <= judge.decides:
            empty = f"not_assessed: the judge {judge.name} cannot decide its items"
        parts = {SCORE: valued} | {
            _metric_of(dimension): valued.filter(pl.col("dimension") == dimension)
            for dimension in self.rubric.dimensions
        }
        return pl.concat(
            [
                *(figures_of(m, _weighted(rows), judged, empty) for m, rows in parts.items()),
                figures_of(ASSESSED, _assessed(valued), judged, empty),
            ]
        )

    def _valued(self, verdicts: pl.DataFrame) -> pl.DataFrame:
        """Verdicts with what each is worth, 0-1, and the weight and dimension of its item; those
        of items that the rubric does not have are left out."""
        items = {item.id: item for item in self.rubric.items}
        verdicts = verdicts.filter(pl.col("item").is_in([*items]))
        rows = [(items[item], label) for item, label in verdicts.select("item", "label").rows()]
        return verdicts.with_columns(
            pl.Series("worth", [_worth(item, label) for item, label in rows], pl.Float64),
            pl.Series("weight", [item.weight for item, _ in rows], pl.Float64),
            pl.Series("dimension", [item.dimension for item, _ in rows], pl.String),
        )


async def _grades(case: Case, judge: Judge, items: Sequence[ItemEntry]) -> Sequence[Answer]:
    asked = tuple(
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
        items=asked,
        attachments=case.attachments,
        prompt="own_rubric/grade_items",
    )
    return await _asked(judge, request)


async def _asked(judge: Judge, request: Decision) -> Sequence[Answer]:
    if type(request) in judge.decides:
        return await judge.decide(request)
    cannot = f"not_assessed: the judge {judge.name} cannot {request.asks_to}"
    return [Answer(status=Status.NOT_ASSESSED, reason=cannot)] * request.n_items


def _decided(step: str, items: Sequence[ItemEntry], answers: Sequence[Answer]) -> list[Decided]:
    pairs = zip(items, answers, strict=True)
    return [Decided(step=step, item=item.id, answer=answer) for item, answer in pairs]


def _bounded(item: ItemEntry, value: float | None) -> Answer:
    """Whether a style figure is in the bounds of its item, which belong to it."""
    if value is None:
        return Answer(status=Status.NOT_ASSESSED, reason="not_assessed: the report has no words")
    low = -inf if item.at_least is None else item.at_least
    high = inf if item.at_most is None else item.at_most
    asked = " and ".join(
        f"{word} {bound:g}"
        for word, bound in (("at least", item.at_least), ("at most", item.at_most))
        if bound is not None
    )
    return Answer(
        status=Status.OK,
        label=WITHIN if low <= value <= high else OUTSIDE,
        reason=f"counted, no judge asked: {item.check} is {value:.4g}, wanted is {asked}",
    )


def _worth(item: ItemEntry, label: str | None) -> float | None:
    """What a label is worth, 0-1; None without one."""
    if label is None:
        return None
    if item.check != GRADE:
        return float(label in (SUPPORTED, WITHIN))
    low, high = min(item.allowed), max(item.allowed)
    return (float(label) - low) / (high - low)


def _weighted(valued: pl.DataFrame) -> pl.DataFrame:
    """Per report the weighted mean of what its judged items are worth, as a frame of SHARES."""
    rows = []
    for (assignment,), group in valued.group_by("assignment", maintain_order=True):
        judged = group.filter(pl.col("status") == "ok")
        value = weighted_mean(judged.select("worth", "weight").rows())
        n_open = group["status"].is_in(OPEN_STATUSES).sum()
        numerator = None if value is None else value * judged.height
        rows.append((assignment, numerator, judged.height, n_open))
    return pl.DataFrame(rows, schema=SHARES, orient="row")


def _assessed(valued: pl.DataFrame) -> pl.DataFrame:
    """Per report the share of its items that were judged, those left out that are still open."""
    still_open = pl.col("status").is_in(OPEN_STATUSES)
    status = pl.when(still_open).then(pl.col("status")).otherwise(pl.lit("ok"))
    return shares(valued.with_columns(status=status, was=pl.col("status")), pl.col("was") == "ok")


def _metric_of(dimension: str) -> str:
    return f"rubric_{dimension}"


def _metrics(rubric: RubricEntry) -> Iterator[MetricEntry]:
    """The score, the share of the items that it rests on, and a score of each dimension."""
    how = "by weight, of what each judged item is worth: 0 its lowest value, 1 its highest"
    yield _metric(SCORE, "Score", f"Mean, {how}.")
    yield _metric(ASSESSED, "Assessed", "Share of the items that were judged, on which all rests.")
    for dimension in rubric.dimensions:
        title = dimension.replace("_", " ").capitalize()
        yield _metric(_metric_of(dimension), title, f"The same over the items of {dimension}.")


def _metric(name: str, title: str, description: str) -> MetricEntry:
    return MetricEntry(
        name=name, title=title, aggregate="macro", better="higher", description=description
    )


def _style_version() -> str:
    from tasks.metrics.style import STYLE_VERSION

    return STYLE_VERSION
