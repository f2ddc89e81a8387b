"""Assign an edition's articles: what each agent is asked."""

from functools import partial

from prefect import flow, tags
from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows.display.console import remark
from flows.runtime.artifacts import leave_costs, leave_failures, leave_table, leave_text
from flows.runtime.fan_out import Failure, partial_message, run_items
from flows.runtime.task_runs import result_of
from flows.runtime.warehouse import hold_warehouse
from tasks.assignments import assign_articles
from tasks.configuration.models import load_judges
from tasks.costs.budget import spending
from tasks.editions.prompts import assigned_message
from tasks.judging.session import judge_session
from tasks.pending.questions import (
    accepted_message,
    inverter_named,
    pending_articles,
    question_counts,
)
from tasks.protocols.registry import protocol as protocol_named
from tasks.questions import invert_article
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse

ARTICLES_AT_ONCE = 16
"""Whose questions are being made; how many calls are under way is for the judge's limits to say."""


@flow(name="assign", flow_run_name="assign · {edition}")
async def assign(
    edition: str,
    protocol: str = "wiki_writing",
    judge: str | None = None,
    articles: int | None = None,
    budget_usd: float | None = None,
    batch: bool = False,
    warehouse: str = "data/warehouse.duckdb",
) -> State[None]:
    """Make the assignments of an edition that are not there yet.

    Args:
        edition: its name in the warehouse.
        protocol: what reports will be judged by, which says what agents are asked: to write the
            article, or to answer questions made out of it.
        judge: what makes the questions; the default of `configs/judges.yaml` unless named.
        articles: make questions of so many articles, drawn by lot; of all unless given.
        budget_usd: what this run may spend on models at most; no cap unless given.
        batch: ask models through their batch APIs.
        warehouse: a DuckDB file, waited for while another process owns it, or a lake's address.

    Returns:
        `Completed`, or a completed state named `Partial` when something is left to do.
    """
    asks_questions = "find_claims" in protocol_named(protocol).kinds
    with (
        await hold_warehouse(warehouse, f"assignments of {edition}") as store,
        tags(f"edition:{edition}"),
    ):
        if not asks_questions:
            new = await result_of(partial(assign_articles, store.url, edition, return_state=True))
            message = assigned_message(store, edition, new)
            await leave_text("assignments", message, f"{edition}: what agents are asked.")
            return Completed(message=message)
        began = utc_now()
        with spending(store, budget_usd):
            name = judge or load_judges().default
            failures = await _questions(store, edition, name, articles, batch=batch)
        await leave_table(
            "questions",
            question_counts(store, edition).to_dicts(),
            f"{edition}: what became of the questions that were made.",
        )
        await leave_failures(failures)
        await leave_costs(store, began, "nothing was asked of a model")
        message = accepted_message(store, edition)
    if failures:
        return Completed(name="Partial", message=f"{message} Left: {partial_message(failures)}")
    return Completed(message=message)


async def _questions(
    store: Warehouse, edition: str, judge: str, articles: int | None, *, batch: bool
) -> list[Failure]:
    """A task for every article whose questions are not all decided."""
    todo = pending_articles(store, edition, inverter_named(judge), articles)
    if not todo:
        return []
    async with judge_session(store, judge, batch=batch, on_message=remark) as decider:
        return await run_items(
            "invert",
            [(pending.title, pending) for pending in todo],
            lambda _, pending: invert_article(store.url, pending, judge, return_state=True),
            at_once=len(todo) if decider.batch else ARTICLES_AT_ONCE,
            room=decider.room,
        )
