"""Reader of DeepResearch Bench II: one task per line, with its rubric.

It reads the user's copy of `tasks_and_rubrics.jsonl` (JSON lines, JSON or Parquet). A task's key is
`idx-N`, like its reports' names. An item's id is its dimension and place, such as `info_recall-12`,
so that items with equal texts stay distinct.
"""

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints

from tasks.base import Frozen
from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.research import PublishedItem, PublishedQuery, PublishedSet
from tasks.benchmarks.rows import (
    MAX_TEXT_CHARS,
    STORABLE,
    LanguageCode,
    PublishedRow,
    PublishedText,
    TaskNumber,
    index_rows,
    read_rows,
)
from tasks.metrics.ratios import mean, share
from tasks.spreadsheets import escape_formula
from tasks.warehouse.rubrics import BlockedSource, BundleSettings

PROTOCOL = "rubric_bench"
SET = PublishedSet(layout="drb2", title="DeepResearch Bench II", protocol=PROTOCOL)
ALLOWED_SCORES = ("1", "0", "-1")
MOST_ITEMS = 5_000
"""The most items of one dimension; published: 158."""

LongText = Annotated[
    str, StringConstraints(strict=True, max_length=10 * MAX_TEXT_CHARS, pattern=r"\S"), STORABLE
]
Items = Annotated[tuple[PublishedText, ...], Field(max_length=MOST_ITEMS)]


class _Drb2Rubric(PublishedRow):
    model_config = ConfigDict(frozen=True, extra="forbid")

    info_recall: Items
    analysis: Items
    presentation: Items


class _Drb2Blocked(PublishedRow):
    title: Annotated[str, StringConstraints(strict=True, max_length=MAX_TEXT_CHARS), STORABLE] = ""
    authors: Items = ()
    urls: Items = ()


class _Drb2Content(PublishedRow):
    task: LongText
    rubric: _Drb2Rubric
    blocked: _Drb2Blocked


class _Drb2Row(PublishedRow):
    idx: TaskNumber
    language: LanguageCode
    theme: PublishedText
    prompt: LongText
    content: _Drb2Content


def read_drb2(path: Path) -> list[PublishedQuery]:
    """Read all tasks of a published file, by number.

    Raises:
        EditionError: no such file, another format, or an invalid row; names the file, the row and
            the field.
    """
    rows = index_rows(path, read_rows(path, _Drb2Row), "idx")
    return [_make_query(path, row) for row in rows.values()]


def _make_query(path: Path, row: _Drb2Row) -> PublishedQuery:
    items = tuple(
        PublishedItem(
            item=f"{dimension}-{place}",
            dimension=dimension,
            text=text,
            allowed=ALLOWED_SCORES,
            points=1,
        )
        for dimension in _Drb2Rubric.model_fields
        for place, text in enumerate(getattr(row.content.rubric, dimension), start=1)
    )
    if not items:
        raise EditionError(f"{path}: idx {row.idx}: `content.rubric` has no items.")
    blocked = BlockedSource.model_validate(row.content.blocked.model_dump())
    return PublishedQuery(
        key=f"idx-{row.idx}",
        query=row.content.task,
        agent_query=row.prompt,
        items=items,
        settings=BundleSettings(
            language=row.language,
            theme=row.theme,
            blocked=None if blocked == BlockedSource() else blocked,
        ),
    )


DIMENSIONS = {"info_recall": "inforecall", "analysis": "analysis", "presentation": "presentation"}
"""Dimensions in the lines, and the tables' names for them."""
TABLES = (*DIMENSIONS.values(), "total", "blocked")
"""The tables; each is a file `agg_scores_<name>.csv`."""
AVERAGE = "avg"


class ItemScore(Frozen):
    """The verdict on one item."""

    score: int
    """1, 0 or -1."""
    reason: str
    evidence: str


class BatchUsage(Frozen):
    """The tokens of one batch, with Gemini's names."""

    promptTokenCount: int  # noqa: N815
    candidatesTokenCount: int  # noqa: N815
    thoughtsTokenCount: int  # noqa: N815
    totalTokenCount: int  # noqa: N815


class UsageSummary(Frozen):
    """The tokens of one report."""

    total_tokens: int
    input_tokens: int
    output_tokens: int
    thoughts_tokens: int


class ReportResult(Frozen):
    """A report's result in its line: scores by dimension and item text."""

    task: str
    scores: dict[str, dict[str, ItemScore]]
    usage_summary: UsageSummary
    usage_metadata_per_batch: tuple[BatchUsage, ...]


class FailedResult(Frozen):
    """The result of a report that could not be judged."""

    error: str


class ResultLine(Frozen):
    """One line of `result.jsonl`."""

    model: str
    idx: int
    result: ReportResult | FailedResult


def sum_usage(batches: Sequence[BatchUsage]) -> UsageSummary:
    """Sum the tokens of a report's batches."""
    return UsageSummary(
        total_tokens=sum(batch.totalTokenCount for batch in batches),
        input_tokens=sum(batch.promptTokenCount for batch in batches),
        output_tokens=sum(batch.candidatesTokenCount for batch in batches),
        thoughts_tokens=sum(batch.thoughtsTokenCount for batch in batches),
    )


TableFigures = dict[str, float | None]
"""A report's share, or a mean, by table; None if there are no items."""


def compute_figures(result: ReportResult | FailedResult) -> TableFigures:
    """Compute the shares of a report's items, 0-1, for each table."""
    if isinstance(result, FailedResult):
        return dict.fromkeys(TABLES)
    by_dimension = {
        table: [item.score for item in result.scores.get(dimension, {}).values()]
        for dimension, table in DIMENSIONS.items()
    }
    every = [score for scores in by_dimension.values() for score in scores]
    return {
        **{table: share(scores.count(1), len(scores)) for table, scores in by_dimension.items()},
        "total": share(every.count(1), len(every)),
        "blocked": share(every.count(-1), len(every)),
    }


class TaskInfo(Frozen):
    """A task's language and theme, for its rows."""

    language: str = ""
    theme: str = ""


def render_table(
    name: str, reports: Mapping[tuple[str, int], TableFigures], tasks: Mapping[int, TaskInfo]
) -> str:
    """Render a table as CSV: one row per task, one column per model, best first, with means.

    reports: by model and idx, in the order of the lines, which breaks ties.
    """
    values = {key: found[name] for key, found in reports.items()}
    by_model = {
        model: mean(v for (m, _), v in values.items() if m == model)
        for model in sorted({model for model, _ in values})
    }
    by_task = {
        idx: mean(v for (_, i), v in values.items() if i == idx)
        for idx in dict.fromkeys(idx for _, idx in values)
    }
    models = sorted(by_model, key=lambda model: _sort_key(by_model[model]))
    file = StringIO()
    rows = csv.writer(file)
    rows.writerow(["idx", "language", "theme", *map(escape_formula, models), AVERAGE])
    for idx in sorted(by_task, key=lambda idx: _sort_key(by_task[idx])):
        task = tasks.get(idx, TaskInfo())
        shown = (_format_figure(values.get((model, idx))) for model in models)
        words = map(escape_formula, (task.language, task.theme))
        rows.writerow([idx, *words, *shown, _format_figure(by_task[idx])])
    shown = (_format_figure(by_model[model]) for model in models)
    rows.writerow([AVERAGE, "", "", *shown, _format_figure(mean(values.values()))])
    return file.getvalue()


def _sort_key(average: float | None) -> float:
    """Return the key that sorts the best first and those without a value last."""
    return 1.0 if average is None else -average


def _format_figure(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"
