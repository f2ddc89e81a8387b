"""DeepResearch Bench II's results in the forms it publishes: lines of JSON, and five tables.

What its own scripts make of the lines is what stands in the tables, byte for byte. Both know
items by their text: of an item that a rubric holds twice, the second one's score counts.
"""

import csv
from collections.abc import Mapping, Sequence
from io import StringIO

from tasks.base import Frozen
from tasks.metrics.shares import mean, share

DIMENSIONS = {"info_recall": "inforecall", "analysis": "analysis", "presentation": "presentation"}
"""As the lines name them, and the tables' files."""
TABLES = (*DIMENSIONS.values(), "total", "blocked")
"""Each is `agg_scores_<name>.csv`."""
AVERAGE = "avg"


class ItemScore(Frozen):
    """What was said of one item."""

    score: int
    """1, 0 or -1."""
    reason: str
    evidence: str


class BatchUsage(Frozen):
    """The tokens of one batch, as Gemini names them."""

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


class Result(Frozen):
    """A report's result as its line holds it; its dimensions' items by their texts."""

    task: str
    scores: dict[str, dict[str, ItemScore]]
    usage_summary: UsageSummary
    usage_metadata_per_batch: tuple[BatchUsage, ...]


class NoResult(Frozen):
    """What the line of a report holds that could not be judged as a whole."""

    error: str


class Line(Frozen):
    """One line of `result.jsonl`."""

    model: str
    idx: int
    result: Result | NoResult


def usage_summary(batches: Sequence[BatchUsage]) -> UsageSummary:
    """The sums over a report's batches."""
    return UsageSummary(
        total_tokens=sum(batch.totalTokenCount for batch in batches),
        input_tokens=sum(batch.promptTokenCount for batch in batches),
        output_tokens=sum(batch.candidatesTokenCount for batch in batches),
        thoughts_tokens=sum(batch.thoughtsTokenCount for batch in batches),
    )


Figures = dict[str, float | None]
"""By table, of one report or as means. None: there is nothing to have a share of."""


def figures(result: Result | NoResult) -> Figures:
    """Shares of a report's items, 0-1, for each table."""
    if isinstance(result, NoResult):
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


class Told(Frozen):
    """What a row says of its task."""

    language: str = ""
    theme: str = ""


def table(name: str, reports: Mapping[tuple[str, int], Figures], tasks: Mapping[int, Told]) -> str:
    """One table as CSV: a row a task, a column a model, the best first, with their means.

    reports: by model and idx, in the order of the lines, which decides between equals.
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
    models = sorted(by_model, key=lambda model: _rank(by_model[model]))
    file = StringIO()
    rows = csv.writer(file)
    rows.writerow(["idx", "language", "theme", *models, AVERAGE])
    for idx in sorted(by_task, key=lambda idx: _rank(by_task[idx])):
        told = tasks.get(idx, Told())
        shown = (_shown(values.get((model, idx))) for model in models)
        rows.writerow([idx, told.language, told.theme, *shown, _shown(by_task[idx])])
    shown = (_shown(by_model[model]) for model in models)
    rows.writerow([AVERAGE, "", "", *shown, _shown(mean(values.values()))])
    return file.getvalue()


def _rank(average: float | None) -> float:
    """Best first, those without any last."""
    return 1.0 if average is None else -average


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"
