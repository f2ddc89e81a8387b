"""Draft bundles of rubrics from an edition's articles, a file each."""

from pathlib import Path

from prefect import flow, tags
from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows.display.console import remark
from flows.runtime.artifacts import leave_costs, leave_failures, leave_text, plain
from flows.runtime.fan_out import partial_message, run_items
from flows.runtime.warehouse import hold_warehouse
from tasks.costs.budget import spending
from tasks.drafts import draft_article
from tasks.judging.session import judge_session
from tasks.pending.drafts import pending_drafts
from tasks.warehouse.rows import utc_now

DRAFTS_AT_ONCE = 8
"""How many calls are under way is for the judge's limits to say."""


@flow(name="draft", flow_run_name="draft · {edition}")
async def draft(
    edition: str,
    to: str,
    judge: str,
    assignments: list[str] | None = None,
    budget_usd: float | None = None,
    batch: bool = False,
    warehouse: str = "data/warehouse.duckdb",
) -> State[None]:
    """Draft a bundle of Rigorous Bench for every article that has no file yet.

    Args:
        edition: its name in the warehouse.
        to: the folder of the files.
        judge: what drafts them.
        assignments: only these; all that ask for an article unless given.
        budget_usd: what this run may spend on models at most; no cap unless given.
        batch: ask models through their batch APIs.
        warehouse: a DuckDB file, waited for while another process owns it, or a lake's address.

    Returns:
        `Completed`, or a completed state named `Partial` when something is left to do.
    """
    with (
        await hold_warehouse(warehouse, f"drafts of {edition}") as store,
        tags(f"edition:{edition}"),
        spending(store, budget_usd),
    ):
        began = utc_now()
        todo = pending_drafts(store, edition, Path(to), assignments or [])
        if not todo:
            return Completed(message=f"{edition}: every draft is in {to} already.")
        async with judge_session(store, judge, batch=batch, on_message=remark) as decider:
            failures = await run_items(
                "draft",
                [(pending.title, pending) for pending in todo],
                lambda _, pending: draft_article(store.url, pending, judge, return_state=True),
                at_once=len(todo) if decider.batch else DRAFTS_AT_ONCE,
                room=decider.room,
            )
        there = f"{sum(p.path.exists() for p in todo)} of {len(todo)} drafts"
        await leave_text("drafts", f"{there} are in {plain(to)}.", f"{edition}: drafted rubrics.")
        await leave_failures(failures)
        await leave_costs(store, began, "nothing was asked of a model")
    message = f"{edition}: {there} in {to}."
    if failures:
        return Completed(name="Partial", message=f"{message} Left: {partial_message(failures)}")
    return Completed(message=message)
