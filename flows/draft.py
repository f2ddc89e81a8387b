"""Draft rubrics for an edition's articles, a file each."""

from pathlib import Path

from prefect import tags
from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows.display.console import print_message
from flows.runtime.artifacts import (
    add_costs_artifact,
    add_failures_artifact,
    add_text_artifact,
    escape_markdown,
)
from flows.runtime.task_runs import format_failures, run_items, run_task_for_error
from flows.runtime.warehouse import hold_warehouse, recorded_flow
from tasks.costs.budget import open_budget
from tasks.drafts import draft_article
from tasks.judging.session import judge_session
from tasks.pending.drafts import find_pending_drafts
from tasks.warehouse.rows import utc_now

MAX_CONCURRENT_DRAFTS = 8
"""Drafts at a time; the judge's limits set how many calls run at a time."""


@recorded_flow("draft", "draft · {edition}")
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
        judge: the judge that drafts them.
        assignments: only these; all that ask for an article unless given.
        budget_usd: the most this run may spend on models; no limit unless given.
        batch: use the models' batch APIs.
        warehouse: a DuckDB file or a lake's address; waits while another process owns the file.

    Returns:
        `Completed`, or a completed state named `Partial` when something is still pending.
    """
    with (
        await hold_warehouse(warehouse, f"drafts of {edition}") as store,
        tags(f"edition:{edition}"),
        open_budget(store, budget_usd),
    ):
        began = utc_now()
        todo = find_pending_drafts(store, edition, Path(to), assignments or [])
        if not todo:
            return Completed(message=f"{edition}: all drafts are in {to} already.")
        async with judge_session(store, judge, batch=batch, on_message=print_message) as decider:
            failures = await run_items(
                "draft",
                [(pending.title, pending) for pending in todo],
                lambda pending: run_task_for_error(draft_article, store, pending, judge),
                concurrency=decider.limit_concurrency(MAX_CONCURRENT_DRAFTS),
                wait_for_capacity=decider.wait_for_capacity,
            )
        there = f"{sum(p.path.exists() for p in todo)} of {len(todo)} drafts"
        await add_text_artifact(
            "drafts", f"{there} are in {escape_markdown(to)}.", f"{edition}: drafted rubrics."
        )
        await add_failures_artifact(failures)
        await add_costs_artifact(store, began, "no model was called")
    message = f"{edition}: {there} in {to}."
    if failures:
        return Completed(name="Partial", message=f"{message} Left: {format_failures(failures)}")
    return Completed(message=message)
