"""Export of verdicts in the result formats of DeepResearch Bench II: JSON lines and five tables.

The tables are byte for byte what its own scripts make from the lines, unless a name would run as a
spreadsheet's formula. Both identify items by their text: if a rubric has an item twice, the second
one's score counts. A report without a result (open items, empty report, not visible to the judge)
gets a line with the reason and no figure in the tables.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path

from tasks.base import Frozen
from tasks.benchmarks.drb2 import PROTOCOL, SET
from tasks.benchmarks.errors import EditionError
from tasks.metrics.ratios import mean, share
from tasks.secrecy.guard import KeyGuard
from tasks.spreadsheets import escape_formula
from tasks.warehouse.rubrics import BundleSettings
from tasks.warehouse.store import Readable

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


LINES = "result.jsonl"
INDEX = "regexp_extract(assignment, '^idx-([0-9]+)$', 1)::BIGINT AS idx"
"""The task's number: assignments are called `idx-NUMBER`."""
REPORTS = f"""
SELECT s.agent, assignment, {INDEX}, s.cell_id, s.reason, a.query
FROM scores AS s JOIN assignments AS a USING (edition, assignment)
WHERE s.edition = $1 AND s.protocol = $2 AND s.judge = $3 AND s.metric = 'rubric_total'
ORDER BY s.agent, idx
"""
VERDICTS = """
SELECT v.assignment, r.dimension, r.text, v.label, v.reason, v.evidence, v.call_id
FROM verdicts AS v
JOIN rubrics AS r USING (edition, assignment, protocol, item)
JOIN (SELECT DISTINCT cell_id FROM scores WHERE edition = $1 AND judge = $3) USING (cell_id)
WHERE v.edition = $1 AND v.protocol = $2 AND v.judge = $3 AND v.agent = $4
    AND v.step = r.dimension AND v.status = 'ok'
ORDER BY v.assignment, r.number
"""
CALLS = """
SELECT call_id, coalesce(prompt_tokens, 0), coalesce(output_tokens, 0),
    coalesce(thinking_tokens, 0)
FROM calls WHERE call_id IN (SELECT unnest($1))
"""


class ExportSummary(Frozen):
    """The exported files' contents, counted."""

    agents: int
    reports: int
    without: tuple[str, ...]
    """Reports without figures, each with the reason."""


def export_drb2(source: Readable, edition: str, judge: str, folder: Path) -> ExportSummary:
    """Write `result.jsonl` and the five `agg_scores_*.csv` into a folder, replacing existing ones.

    Raises:
        EditionError: the edition is not of this bench, or has not been judged.
        LeakedKey: a file would hold a key; nothing is written then.
        OSError: the folder cannot be written to.
    """
    _check_layout(source, edition)
    guard, lines = KeyGuard(), []
    found: dict[tuple[str, int], TableFigures] = {}
    without = []
    for line in _make_lines(source, edition, judge):
        text = json.dumps(line.model_dump(), ensure_ascii=False) + "\n"
        lines.append(guard.check(text, f"{LINES}, {line.model}, idx-{line.idx}"))
        found[line.model, line.idx] = compute_figures(line.result)
        if isinstance(line.result, FailedResult):
            without.append(f"{line.model}, idx-{line.idx}: {line.result.error}")
    tasks = _load_tasks(source, edition)
    files = {f"agg_scores_{name}.csv": render_table(name, found, tasks) for name in TABLES}
    files[LINES] = "".join(lines)
    checked = {name: guard.check(text, name) for name, text in files.items()}
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in checked.items():
        (folder / name).write_text(text, "utf-8", newline="")
    n_agents = len({agent for agent, _ in found})
    return ExportSummary(agents=n_agents, reports=len(found), without=tuple(without))


def _check_layout(source: Readable, edition: str) -> None:
    known = source.frame("SELECT source FROM editions WHERE edition = $1", [edition])["source"]
    if known[0] != SET.layout:
        raise EditionError(
            f"{edition} comes from {known[0]}: only editions of `evergreen import {SET.layout}` "
            "can be exported in this format."
        )


def _make_lines(source: Readable, edition: str, judge: str) -> Iterator[ResultLine]:
    """Yield a line for each scored report, by agent and task."""
    reports = source.frame(REPORTS, [edition, PROTOCOL, judge])
    if reports.is_empty():
        raise EditionError(
            f"The judge {judge!r} has scored nothing of {edition} under {PROTOCOL}. Run "
            f"`evergreen evaluate --edition {edition} --judge {judge}`."
        )
    for (agent,), rows in reports.group_by("agent", maintain_order=True):
        results = _AgentVerdicts(source, edition, judge, str(agent))
        for row in rows.iter_rows(named=True):
            yield ResultLine(
                model=str(agent),
                idx=row["idx"],
                result=results.make_result(row["assignment"], row["query"])
                if row["cell_id"]
                else FailedResult(error=row["reason"] or "it has not been judged"),
            )


class _AgentVerdicts:
    """One agent's verdicts, by assignment."""

    def __init__(self, source: Readable, edition: str, judge: str, agent: str) -> None:
        verdicts = source.frame(VERDICTS, [edition, PROTOCOL, judge, agent])
        self._verdicts = verdicts.partition_by("assignment", as_dict=True)
        calls = source.frame(CALLS, [verdicts["call_id"].drop_nulls().unique().to_list()])
        self._usage = {
            call: BatchUsage(
                promptTokenCount=prompt,
                candidatesTokenCount=output,
                thoughtsTokenCount=thoughts,
                totalTokenCount=prompt + output + thoughts,
            )
            for call, prompt, output, thoughts in calls.iter_rows()
        }

    def make_result(self, assignment: str, query: str) -> ReportResult | FailedResult:
        if (assignment,) not in self._verdicts:
            return FailedResult(error="no item was decided")
        verdicts = self._verdicts[assignment,]
        scores: dict[str, dict[str, ItemScore]] = {dimension: {} for dimension in DIMENSIONS}
        for row in verdicts.iter_rows(named=True):
            scores[row["dimension"]][row["text"]] = ItemScore(
                score=int(row["label"]), reason=row["reason"] or "", evidence=row["evidence"] or ""
            )
        calls = dict.fromkeys(verdicts["call_id"].drop_nulls().to_list())
        batches = tuple(self._usage[call] for call in calls if call in self._usage)
        return ReportResult(
            task=query,
            scores=scores,
            usage_summary=sum_usage(batches),
            usage_metadata_per_batch=batches,
        )


def _load_tasks(source: Readable, edition: str) -> dict[int, TaskInfo]:
    frame = source.frame(
        f"SELECT {INDEX}, settings FROM rubric_bundles WHERE edition = $1 AND protocol = $2",
        [edition, PROTOCOL],
    )
    tasks = {}
    for idx, stored in frame.iter_rows():
        settings = BundleSettings.model_validate_json(stored)
        tasks[idx] = TaskInfo(language=settings.language or "", theme=settings.theme or "")
    return tasks
