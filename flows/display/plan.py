"""What a month would take: its steps and its account, before anything is done."""

import json
from typing import Any

import typer
from rich import box
from rich.table import Table

from flows.display.console import ANSWERS, insist, passing_bars, remark
from tasks.planning.month import Month, spent_before
from tasks.planning.plan import plan_month, refusals
from tasks.planning.step import Account, Planned, account_of
from tasks.warehouse.store import Warehouse

UNKNOWN = "unknown"


def say_plan(store: Warehouse, month: Month, form: str) -> None:
    """Exit code 1 where the month would not begin."""
    why_not = refusals(store, month)
    with passing_bars() as bars:
        bar = bars.add_task("cells", total=None)
        plan = plan_month(store, month, lambda n: bars.advance(bar, n))
    account = account_of(plan, month.budget_usd, spent_before(store, month))
    if form == "json":
        print(json.dumps(_plan_record(month, plan, account, why_not), ensure_ascii=False, indent=1))
    else:
        _print_steps(month, plan)
        _print_account(account, begins=not why_not)
        for why in why_not:
            insist(f"It would not begin: {why}", style="red")
        remark("Nothing was asked, bought or written.")
    if why_not:
        raise typer.Exit(1)


def _plan_record(
    month: Month, plan: list[Planned], account: Account, why_not: list[str]
) -> dict[str, Any]:
    return {
        "edition": month.edition,
        "steps": [row.model_dump() for row in plan],
        "account": account.model_dump() | {"verdict": account.verdict},
        "would_not_begin": why_not,
    }


def _print_steps(month: Month, plan: list[Planned]) -> None:
    table = Table(title=f"{month.edition}: what is left to do", box=box.SIMPLE_HEAD)
    for name in ("Step", "To do", "Asked", "Times", "USD", "USD at most"):
        numbers = name in ("Times", "USD", "USD at most")
        table.add_column(name, justify="right" if numbers else "left", overflow="fold")
    for row in plan:
        to_do = f"{row.to_do} ({row.note})" if row.note else row.to_do
        times = UNKNOWN if row.n is None else f"{row.n:,}"
        table.add_row(row.step, to_do, row.asked, times, _usd(row.usd), _usd(row.usd_at_most))
    ANSWERS.print(table, markup=False)


def _print_account(account: Account, *, begins: bool) -> None:
    least = "at least " if account.unknown else ""
    rows = {
        "budget": "no cap" if account.budget_usd is None else _usd(account.budget_usd),
        "spent by earlier runs": _usd(account.spent_usd),
        "expected now": f"{least}{_usd(account.expected_usd)}",
        "at most now": f"{least}{_usd(account.at_most_usd)}",
    }
    if begins:
        rows["so the budget is"] = account.verdict
    table = Table("USD", "", box=box.SIMPLE_HEAD)
    for name, value in rows.items():
        table.add_row(name, value)
    ANSWERS.print(table, markup=False)


def _usd(usd: float | None) -> str:
    return UNKNOWN if usd is None else f"{usd:,.2f}"
