"""A run of a deployment that would pay must be told how much: nobody watches it."""

import asyncio
from typing import TYPE_CHECKING, Any

import polars as pl
from prefect.context import FlowRunContext

from tasks.configuration.models import load_judges
from tasks.judges.registry import OFFLINE, load_judge_entry
from tasks.models.errors import Misconfigured
from tasks.planning.options import (
    AskOptions,
    BackfillOptions,
    EvaluateOptions,
    FlowOptions,
    RejudgeOptions,
)
from tasks.run import Plan
from tasks.warehouse.store import Warehouse

if TYPE_CHECKING:
    from tasks.planning.month import Month

LIMIT = "evergreen-"
"""Begins the names of our concurrency limits."""


async def check_budget(plan: Plan, options: FlowOptions) -> None:
    """Check that a run of a deployment has a budget if it would pay.

    Raises:
        Misconfigured: it has none; the message has the estimate.
    """
    if _is_served() and getattr(options, "budget_usd", 0.0) is None:
        frame = await asyncio.to_thread(_estimate, plan, options)
        unknown = frame["usd_at_most"].null_count() > 0
        _refuse(float(frame["usd"].sum()), float(frame["usd_at_most"].sum()), unknown=unknown)


async def check_month_budget(store: Warehouse, month: "Month") -> None:
    """Do as `check_budget`, for a month."""
    if _is_served() and month.budget_usd is None:
        from tasks.planning.judging import sum_costs
        from tasks.planning.month import sum_spent
        from tasks.planning.plan import plan_month  # slow: loads the model clients

        plan = await asyncio.to_thread(plan_month, store, month)
        costs = sum_costs(plan, None, sum_spent(store, month))
        paid = [row for row in plan if row.usd is None or row.usd > 0]
        _refuse(costs.expected_usd, costs.at_most_usd, unknown=bool(paid and costs.unknown))


def _estimate(plan: Plan, options: FlowOptions) -> pl.DataFrame:
    """Estimate what a run buys by its own options, in `usd` and `usd_at_most`; of a backfill only
    the reports."""
    from flows.display.estimate import estimate_evaluation  # slow: loads judges and prompts
    from tasks.analysis.judges import select_reports
    from tasks.jobs.estimate import estimate_reports
    from tasks.jobs.pending import find_prompted_editions

    store: Any = plan.store
    match options:
        case AskOptions():
            return estimate_reports(store, [options.edition], options.agents, options.first)
        case BackfillOptions():
            editions = options.editions or find_prompted_editions(store)
            return estimate_reports(store, editions, options.agents, options.first)
        case RejudgeOptions():
            of, _ = select_reports(
                store, options.edition, options.judge, options.against, options.agents,
                options.assignments, options.protocols,
            )  # fmt: skip
            again = EvaluateOptions(
                edition=options.edition, protocols=[*of.protocols], agents=options.agents,
                judge=options.judge, extractor=OFFLINE, assignments=options.assignments,
            )  # fmt: skip
            plan = again.plan(store)
    return estimate_evaluation(plan)[0]


def _refuse(usd: float, at_most: float, *, unknown: bool) -> None:
    if not usd and not unknown:
        return
    more = ", and more at unknown prices" if unknown else ""
    raise Misconfigured(
        f"This run would cost about ${usd:,.2f} (at most ${at_most:,.2f}{more}), and it has no "
        "budget. Nothing was bought. Start it with `budget_usd`: the most that it may spend, or "
        "`unlimited`."
    )


def list_limits(options: FlowOptions) -> list[str]:
    """Return the concurrency limits of which a run of a deployment takes a slot each: one for each
    of its judges' providers, and of the agents that it asks, under `runs_at_once` in
    configs/refresh.yaml."""
    if not _is_served():
        return []
    from tasks.editions.refresh import load_refresh

    settings = load_refresh()
    is_month = hasattr(options, "to_publish")
    usual = settings.model_dump(exclude_none=True) if is_month else {}
    chosen = usual | options.model_dump(exclude_none=True)
    judges = {chosen.get("judge", load_judges().default), chosen.get("extractor")} - {OFFLINE, None}
    entries = [load_judge_entry(judge)[1] for judge in judges if hasattr(options, "judge")]
    used = {getattr(entry, "provider", None) for entry in entries}
    if is_month or isinstance(options, (AskOptions, BackfillOptions)):
        used |= {*chosen["agents"]}
    return sorted(f"{LIMIT}{name}" for name in settings.runs_at_once if name in used)


def _is_served() -> bool:
    context = FlowRunContext.get()
    return bool(context and context.flow_run and context.flow_run.deployment_id)
