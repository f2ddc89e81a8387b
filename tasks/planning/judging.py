"""Plan the judging of a month, also of reports that do not exist yet."""

from collections.abc import Callable, Iterator

import polars as pl

from tasks.base import format_count
from tasks.configuration.models import LlmJudgeEntry
from tasks.judges.registry import load_judge_entry, load_model_entry
from tasks.judging.cells import CellPlan
from tasks.judging.protocols import choose_protocols
from tasks.pending.evaluation import (
    Evaluation,
    find_pending_cells,
    plan_run_cells,
    select_bought_extractions,
)
from tasks.planning.estimate import estimate_cells, estimate_extraction
from tasks.planning.month import Month
from tasks.planning.step import ExpectedWork, PlannedStep, make_free_step, make_unpriced_step
from tasks.warehouse.store import Warehouse

ENOUGH = 5
"""From this many judged reports on, their mean cost estimates future ones."""
JUDGED = """
SELECT count(DISTINCT (v.edition, v.agent, v.assignment)) AS reports, (
    SELECT sum(c.cost_usd ORDER BY c.cost_usd) FROM calls AS c
    WHERE c.judge = $1 AND c.call_id IN (SELECT call_id FROM verdicts)
) AS usd
FROM verdicts AS v WHERE v.judge = $1 AND v.call_id IS NOT NULL
"""
OnProgress = Callable[[int], None]
"""Called with how many more cells have been estimated."""


def plan_judging(
    store: Warehouse, month: Month, expected: ExpectedWork, on_progress: OnProgress
) -> Iterator[PlannedStep]:
    protocols = choose_protocols(store, month.edition)
    run = Evaluation(
        store.url, month.edition, protocols, month.agents, month.judge, month.extractor
    )
    if name := run.extracting_judge:
        yield from _plan_extraction(run, name, expected)
    _, entry = load_judge_entry(month.judge)
    todo = find_pending_cells(plan_run_cells(run))
    target = f"the judge {month.judge}"
    if not isinstance(entry, LlmJudgeEntry):
        action = f"judge {format_count(len(todo), 'cell')}"
        if expected.reports:
            action += f" and those of {format_count(expected.reports, 'future report')}"
        yield make_free_step("evaluate", action, target, 0)
        return
    ready = [plan for plan in todo if not plan.is_waiting]
    waiting = len(todo) - len(ready)
    if ready or not (waiting or expected.reports):
        yield _plan_ready_cells(store, entry, ready, target, on_progress)
    if waiting:
        action = f"judge {format_count(waiting, 'cell')} once facts and claims are extracted"
        yield make_unpriced_step("evaluate", action, target)
    if expected.reports:
        yield _plan_future_reports(store, month.judge, expected.reports, target)


def _plan_ready_cells(
    store: Warehouse,
    entry: LlmJudgeEntry,
    ready: list[CellPlan],
    target: str,
    on_progress: OnProgress,
) -> PlannedStep:
    """Plan cells whose prompts can be rendered now."""
    if not ready:
        return make_free_step("evaluate", "judge nothing", target, 0)
    frame = estimate_cells(store, entry, ready, on_progress)
    return PlannedStep(
        step="evaluate",
        action=f"judge {format_count(len(ready), 'cell')} now",
        target=target,
        n=int(frame["calls"].sum()),
        usd=_sum_column(frame, "usd"),
        usd_at_most=_sum_column(frame, "usd_at_most"),
        note=f"answers in the ledger: {int(frame['in_ledger'].sum())}",
    )


def _plan_future_reports(store: Warehouse, name: str, reports: int, target: str) -> PlannedStep:
    """Estimate future reports by what judging others has cost, if there are ENOUGH."""
    action = f"judge {format_count(reports, 'future report')}"
    n, usd = store.frame(JUDGED, [name]).row(0)
    if n < ENOUGH or usd is None:
        return make_unpriced_step("evaluate", action, target)
    return PlannedStep(
        step="evaluate", action=action, target=target, n=None, usd=usd / n * reports,
        usd_at_most=None, note=f"estimated from {n} reports that it has judged",
    )  # fmt: skip


def _plan_extraction(run: Evaluation, name: str, expected: ExpectedWork) -> Iterator[PlannedStep]:
    target = f"the judge {name}"
    extracting, entry = load_model_entry(name, "extract")
    if items := select_bought_extractions(run):
        frame = estimate_extraction(run.store, extracting, entry, items)
        yield PlannedStep(
            step="fetch", action=f"extract the statements of {format_count(len(items), 'text')}",
            target=target,
            n=int(frame["calls"].sum()), usd=_sum_column(frame, "usd"),
            usd_at_most=_sum_column(frame, "usd_at_most"),
        )  # fmt: skip
    if expected.reports or expected.to_write:
        articles = (
            f" and of {format_count(expected.to_write, 'article')}" if expected.to_write else ""
        )
        action = (
            f"extract the statements of {format_count(expected.reports, 'future report')}{articles}"
        )
        yield make_unpriced_step("fetch", action, target)


def _sum_column(frame: pl.DataFrame, column: str) -> float | None:
    """Sum a column; None if any value is unknown."""
    return None if frame[column].null_count() else float(frame[column].sum())
