"""Plan the steps of a refresh and their costs, above all its judging, also of reports that do not
exist yet."""

from collections.abc import Callable, Iterator, Sequence

import polars as pl

from tasks.base import Frozen, format_count
from tasks.claims import select_bought_extractions
from tasks.configuration.models import LlmJudgeEntry
from tasks.judges.registry import load_judge_entry, load_model_entry
from tasks.judging.cells import CellPlan
from tasks.planning.estimate import estimate_cells, estimate_extraction
from tasks.planning.month import Month
from tasks.planning.options import EvaluateOptions
from tasks.processes.pool import HelperProcesses
from tasks.run import Plan
from tasks.verdicts import VERDICTS
from tasks.warehouse.store import Warehouse

ENOUGH = 5
"""From this many judged reports on, their mean cost estimates future ones."""
JUDGED = """
SELECT count(DISTINCT (v.edition, v.agent, v.assignment)) AS reports, (
    SELECT sum(c.cost_usd ORDER BY c.cost_usd) FROM calls AS c
    WHERE c.call_id IN (SELECT unnest([call_id, refused_call]) FROM verdicts WHERE judge = $1)
) AS usd
FROM verdicts AS v WHERE v.judge = $1 AND v.call_id IS NOT NULL
"""
OnProgress = Callable[[int], None]
"""Called with how many more cells have been estimated."""


class PlannedStep(Frozen):
    """One step of a plan."""

    step: str
    action: str
    target: str
    """Who is asked: the wiki, an agent, a judge, web pages, nobody."""
    n: int | None
    """Number of requests, reports, calls or pages; None if unknown."""
    usd: float | None
    """Expected cost; None if unknown."""
    usd_at_most: float | None
    """What a budget would set aside; None if unknown."""
    note: str = ""


class ExpectedWork(Frozen):
    """How much of a month exists and how much is pending."""

    articles: int
    to_write: int
    """Pending prompts to write an article."""
    questions: int
    """Articles whose questions are pending; the number of questions is unknown."""
    reports: int
    """Future reports of all agents, as far as their prompts are known."""


class PlanCosts(Frozen):
    """A plan's costs compared with the month's budget, in USD."""

    budget_usd: float | None
    """None: no cap."""
    spent_usd: float
    """Spent by earlier runs of the month, as far as prices are known."""
    expected_usd: float
    """Sum of the known expected costs."""
    at_most_usd: float
    """Sum of the known amounts that a budget would set aside."""
    unknown: tuple[str, ...]
    """Steps missing from both sums, or from the second."""

    @property
    def verdict(self) -> str:
        """Whether the budget is enough."""
        if self.budget_usd is None:
            return "no cap is set"
        left = self.budget_usd - self.spent_usd
        if self.expected_usd > left:
            return "not enough: what exceeds it is left out, and the month ends as Partial"
        enough = "enough for what is expected" if self.at_most_usd > left else "enough"
        return f"{enough}, as far as is known" if self.unknown else enough


def sum_costs(plan: Sequence[PlannedStep], budget_usd: float | None, spent_usd: float) -> PlanCosts:
    """Sum the costs of a plan."""
    open_ends = [f"{row.step}: {row.action}" for row in plan if row.usd_at_most is None]
    return PlanCosts(
        budget_usd=budget_usd,
        spent_usd=spent_usd,
        expected_usd=sum(row.usd or 0.0 for row in plan),
        at_most_usd=sum(row.usd_at_most or 0.0 for row in plan),
        unknown=tuple(open_ends),
    )


def make_free_step(step: str, action: str, target: str, n: int | None) -> PlannedStep:
    return PlannedStep(step=step, action=action, target=target, n=n, usd=0.0, usd_at_most=0.0)


def make_unpriced_step(step: str, action: str, target: str) -> PlannedStep:
    return PlannedStep(step=step, action=action, target=target, n=None, usd=None, usd_at_most=None)


def plan_judging(
    store: Warehouse,
    helpers: HelperProcesses,
    month: Month,
    expected: ExpectedWork,
    on_progress: OnProgress,
) -> Iterator[PlannedStep]:
    options = EvaluateOptions(
        edition=month.edition, agents=[*month.agents], judge=month.judge, extractor=month.extractor
    )
    plan = options.plan(store)
    if name := plan.selection.extracting_judge:
        yield from _plan_extraction(plan, name, expected)
    _, entry = load_judge_entry(month.judge)
    todo = plan.find_pending(VERDICTS)
    target = f"the judge {month.judge}"
    if not isinstance(entry, LlmJudgeEntry):
        action = f"judge {format_count(len(todo), 'cell')}"
        if expected.reports:
            action += f" and those of {format_count(expected.reports, 'future report')}"
        yield make_free_step("evaluate", action, target, 0)
        return
    ready = [cell for cell in todo if not cell.is_waiting]
    waiting = len(todo) - len(ready)
    if ready or not (waiting or expected.reports):
        yield _plan_ready_cells(store, helpers, entry, ready, target, on_progress)
    if waiting:
        action = f"judge {format_count(waiting, 'cell')} once facts and claims are extracted"
        yield make_unpriced_step("evaluate", action, target)
    if expected.reports:
        yield _plan_future_reports(store, month.judge, expected.reports, target)


def _plan_ready_cells(
    store: Warehouse,
    helpers: HelperProcesses,
    entry: LlmJudgeEntry,
    ready: list[CellPlan],
    target: str,
    on_progress: OnProgress,
) -> PlannedStep:
    """Plan cells whose prompts can be rendered now."""
    if not ready:
        return make_free_step("evaluate", "judge nothing", target, 0)
    frame = estimate_cells(store, helpers, entry, ready, on_progress)
    note = f"answers in the ledger: {int(frame['in_ledger'].sum())}"
    if entry.fallback:
        note += f"; what it refuses is asked of {entry.fallback}, not included"
    return PlannedStep(
        step="evaluate",
        action=f"judge {format_count(len(ready), 'cell')} now",
        target=target,
        n=int(frame["calls"].sum()),
        usd=_sum_column(frame, "usd"),
        usd_at_most=_sum_column(frame, "usd_at_most"),
        note=note,
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


def _plan_extraction(plan: Plan, name: str, expected: ExpectedWork) -> Iterator[PlannedStep]:
    target = f"the judge {name}"
    extracting, entry = load_model_entry(name, "extract")
    if items := select_bought_extractions(plan):
        frame = estimate_extraction(plan.store, extracting, entry, items)
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
