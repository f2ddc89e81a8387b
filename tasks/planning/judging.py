"""What judging a month would ask and cost, as far as can be said before there are reports."""

from collections.abc import Callable, Iterator

import polars as pl

from tasks.configuration.models import LlmJudgeEntry
from tasks.judges.registry import judge, judge_entry
from tasks.judging.cells import CellPlan, plan_cells
from tasks.judging.protocols import protocols_for
from tasks.pending.extractions import unextracted
from tasks.planning.estimate import estimate_cells, estimate_extraction
from tasks.planning.month import Month
from tasks.planning.step import Expected, Planned, free, unknown
from tasks.protocols.registry import protocol
from tasks.warehouse.store import Warehouse

ENOUGH = 5
"""Reports that a judge has judged from which on their mean says what the next ones will cost."""
JUDGED = """
SELECT count(DISTINCT (v.edition, v.agent, v.assignment)) AS reports, (
    SELECT sum(c.cost_usd ORDER BY c.cost_usd) FROM calls AS c
    WHERE c.judge = $1 AND c.call_id IN (SELECT call_id FROM verdicts)
) AS usd
FROM verdicts AS v WHERE v.judge = $1 AND v.call_id IS NOT NULL
"""
OnProgress = Callable[[int], None]
"""Told how many more cells have been looked at."""


def plan_judging(
    store: Warehouse, month: Month, expected: Expected, on_progress: OnProgress
) -> Iterator[Planned]:
    if month.extractor:
        yield from _extract(store, month, month.extractor, expected)
    decider, (_, entry) = judge(month.judge), judge_entry(month.judge)
    plans = [
        plan
        for name in protocols_for(store, month.edition)
        for plan in plan_cells(store, month.edition, protocol(name), decider, month.agents)
    ]
    todo = [plan for plan in plans if plan.state in ("pending", "failed")]
    asked = f"the judge {month.judge}"
    if not isinstance(entry, LlmJudgeEntry):
        to_do = f"judge {len(todo)} cells"
        if expected.reports:
            to_do += f" and those of {expected.reports} reports to come"
        yield free("evaluate", to_do, asked, 0)
        return
    ready = [plan for plan in todo if not (plan.state_reason or "").startswith("waits for")]
    waiting = len(todo) - len(ready)
    if ready or not (waiting or expected.reports):
        yield _ready(store, entry, ready, asked, on_progress)
    if waiting:
        to_do = f"judge {waiting} cells once facts and claims are extracted"
        yield unknown("evaluate", to_do, asked)
    if expected.reports:
        yield _to_come(store, month.judge, expected.reports, asked)


def _ready(
    store: Warehouse,
    entry: LlmJudgeEntry,
    ready: list[CellPlan],
    asked: str,
    on_progress: OnProgress,
) -> Planned:
    """Cells whose prompts can be made now."""
    if not ready:
        return free("evaluate", "judge nothing", asked, 0)
    frame = estimate_cells(store, entry, ready, on_progress)
    return Planned(
        step="evaluate",
        to_do=f"judge {len(ready)} cells that are ready",
        asked=asked,
        n=int(frame["calls"].sum()),
        usd=_sum(frame, "usd"),
        usd_at_most=_sum(frame, "usd_at_most"),
        note=f"{int(frame['in_ledger'].sum())} answers are in the ledger",
    )


def _to_come(store: Warehouse, name: str, reports: int, asked: str) -> Planned:
    """Reports that nobody has read yet: by what judging others has cost, if there are enough."""
    to_do = f"judge {reports} reports to come"
    n, usd = store.frame(JUDGED, [name]).row(0)
    if n < ENOUGH or usd is None:
        return unknown("evaluate", to_do, asked)
    return Planned(
        step="evaluate", to_do=to_do, asked=asked, n=None, usd=usd / n * reports,
        usd_at_most=None, note=f"by what {n} reports have cost that it has judged",
    )  # fmt: skip


def _extract(store: Warehouse, month: Month, name: str, expected: Expected) -> Iterator[Planned]:
    asked = f"the judge {name}"
    extracting, entry = judge_entry(name)
    if not isinstance(entry, LlmJudgeEntry):
        return
    extractor: object = judge(extracting)
    items = unextracted(store, month.edition, month.agents, extractor)  # type: ignore[arg-type]
    if items:
        frame = estimate_extraction(store, extracting, entry, items)
        yield Planned(
            step="fetch", to_do=f"extract the statements of {len(items)} texts", asked=asked,
            n=int(frame["calls"].sum()), usd=_sum(frame, "usd"),
            usd_at_most=_sum(frame, "usd_at_most"),
        )  # fmt: skip
    if expected.reports or expected.to_write:
        articles = f" and of {expected.to_write} articles" if expected.to_write else ""
        to_do = f"extract the statements of {expected.reports} reports to come{articles}"
        yield unknown("fetch", to_do, asked)


def _sum(frame: pl.DataFrame, column: str) -> float | None:
    """None where one of them is not known."""
    return None if frame[column].null_count() else float(frame[column].sum())
