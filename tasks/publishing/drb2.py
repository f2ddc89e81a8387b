"""Export of an edition's verdicts in the result format of DeepResearch Bench II.

A report without a result (open items, empty report, not visible to the judge) gets a line with the
reason and no figure in the tables.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from tasks.base import Frozen
from tasks.benchmarks.drb2 import (
    DIMENSIONS,
    PROTOCOL,
    SET,
    TABLES,
    BatchUsage,
    FailedResult,
    ItemScore,
    ReportResult,
    ResultLine,
    TableFigures,
    TaskInfo,
    compute_figures,
    render_table,
    sum_usage,
)
from tasks.benchmarks.errors import EditionError
from tasks.secrecy.guard import KeyGuard
from tasks.warehouse.rubrics import BundleSettings
from tasks.warehouse.store import Readable

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
    return ExportSummary(
        agents=len({agent for agent, _ in found}), reports=len(found), without=tuple(without)
    )


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
