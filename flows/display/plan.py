"""Print what a month would take before it runs: its steps and its account."""

from typing import Any

import typer
from rich import box
from rich.table import Table

from flows.display.console import STDOUT, print_always, print_message, transient_progress
from flows.display.formats import format_json
from tasks.configuration.budgets import to_limit
from tasks.editions.refresh import load_refresh
from tasks.planning.judging import PlanCosts, PlannedStep, sum_costs
from tasks.planning.month import Month, find_unfinished, sum_spent
from tasks.planning.plan import find_refusals, plan_month
from tasks.warehouse.store import Warehouse

UNKNOWN = "unknown"


def print_plan(store: Warehouse, month: Month, form: str) -> None:
    """Print a month's plan; exit with 1 if the month could not start.

    Raises:
        typer.Exit: it could not start.
    """
    unfinished = [*find_unfinished(store, load_refresh(), month.edition).values()]
    for said in unfinished:
        print_message(said, style="yellow")
    why_not = find_refusals(store, month)
    with transient_progress() as bars:
        bar = bars.add_task("cells", total=None)
        plan = plan_month(store, month, lambda n: bars.advance(bar, n))
    account = sum_costs(plan, to_limit(month.budget_usd), sum_spent(store, month))
    if form == "json":
        record = _plan_record(month, plan, account, why_not)
        print(format_json({"unfinished": unfinished} | record))
    else:
        _print_steps(month, plan)
        _print_account(account, begins=not why_not)
        for why in why_not:
            print_always(f"The month cannot start: {why}", style="red")
        print_message("Nothing was asked, bought or written.")
    if why_not:
        raise typer.Exit(1)


def _plan_record(
    month: Month, plan: list[PlannedStep], account: PlanCosts, why_not: list[str]
) -> dict[str, Any]:
    return {
        "edition": month.edition,
        "steps": [row.model_dump() for row in plan],
        "account": account.model_dump() | {"verdict": account.verdict},
        "would_not_begin": why_not,
    }


def _print_steps(month: Month, plan: list[PlannedStep]) -> None:
    table = Table(title=f"{month.edition}: what is left to do", box=box.SIMPLE_HEAD)
    for name in ("Step", "To do", "Asked", "Times", "USD", "USD at most"):
        numbers = name in ("Times", "USD", "USD at most")
        table.add_column(name, justify="right" if numbers else "left", overflow="fold")
    for row in plan:
        action = f"{row.action} ({row.note})" if row.note else row.action
        times = UNKNOWN if row.n is None else f"{row.n:,}"
        table.add_row(
            row.step, action, row.target, times, _format_usd(row.usd), _format_usd(row.usd_at_most)
        )
    STDOUT.print(table)


def _print_account(account: PlanCosts, *, begins: bool) -> None:
    least = "at least " if account.unknown else ""
    rows = {
        "budget": "no cap" if account.budget_usd is None else _format_usd(account.budget_usd),
        "spent by earlier runs": _format_usd(account.spent_usd),
        "expected now": f"{least}{_format_usd(account.expected_usd)}",
        "at most now": f"{least}{_format_usd(account.at_most_usd)}",
    }
    if begins:
        rows["so the budget is"] = account.verdict
    table = Table("USD", "", box=box.SIMPLE_HEAD)
    for name, value in rows.items():
        table.add_row(name, value)
    STDOUT.print(table)


def _format_usd(usd: float | None) -> str:
    return UNKNOWN if usd is None else f"{usd:,.2f}"
