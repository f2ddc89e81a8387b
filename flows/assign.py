"""Make an edition's assignments."""

from prefect import tags
from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows.display.console import print_message
from flows.runtime.artifacts import (
    add_costs_artifact,
    add_failures_artifact,
    add_table_artifact,
    add_text_artifact,
)
from flows.runtime.task_runs import (
    Failure,
    format_failures,
    run_items,
    run_task_for_error,
    run_task_for_result,
)
from flows.runtime.warehouse import hold_warehouse, recorded_flow
from tasks.assignments import assign_articles
from tasks.configuration.models import load_judges
from tasks.costs.budget import open_budget
from tasks.editions.prompts import describe_assigned
from tasks.judging.session import judge_session
from tasks.pending.questions import (
    count_question_states,
    describe_accepted,
    find_pending_articles,
    get_inverter,
)
from tasks.protocols.registry import get_protocol
from tasks.questions import make_questions
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse

MAX_CONCURRENT_ARTICLES = 16
"""Articles at a time; the judge's limits set how many calls run at a time."""


@recorded_flow("assign", "assign · {edition}")
async def assign(
    edition: str,
    protocol: str = "wiki_writing",
    judge: str | None = None,
    articles: int | None = None,
    budget_usd: float | None = None,
    batch: bool = False,
    warehouse: str = "data/warehouse.duckdb",
) -> State[None]:
    """Make the pending assignments of an edition.

    Args:
        edition: its name in the warehouse.
        protocol: the protocol that will judge the reports. It decides what agents are asked: to
            write the article, or to answer questions about it.
        judge: the judge that makes the questions; the default of `configs/judges.yaml` unless
            given.
        articles: make questions for this many articles, drawn at random; for all unless given.
        budget_usd: the most this run may spend on models; no limit unless given.
        batch: use the models' batch APIs.
        warehouse: a DuckDB file or a lake's address; waits while another process owns the file.

    Returns:
        `Completed`, or a completed state named `Partial` when something is still pending.
    """
    asks_questions = "find_claims" in get_protocol(protocol).kinds
    with (
        await hold_warehouse(warehouse, f"assignments of {edition}") as store,
        tags(f"edition:{edition}"),
    ):
        if not asks_questions:
            new = await run_task_for_result(assign_articles, store, edition)
            message = describe_assigned(store, edition, new)
            await add_text_artifact("assignments", message, f"{edition}: what agents are asked.")
            return Completed(message=message)
        began = utc_now()
        with open_budget(store, budget_usd):
            name = judge or load_judges().default
            failures = await _make_questions(store, edition, name, articles, batch=batch)
        await add_table_artifact(
            "questions",
            count_question_states(store, edition).to_dicts(),
            f"{edition}: the questions that were made, by state.",
        )
        await add_failures_artifact(failures)
        await add_costs_artifact(store, began, "no model was called")
        message = describe_accepted(store, edition)
    if failures:
        return Completed(name="Partial", message=f"{message} Left: {format_failures(failures)}")
    return Completed(message=message)


async def _make_questions(
    store: Warehouse, edition: str, judge: str, articles: int | None, *, batch: bool
) -> list[Failure]:
    """Run a task for every article with pending questions."""
    todo = find_pending_articles(store, edition, get_inverter(judge), articles)
    if not todo:
        return []
    async with judge_session(store, judge, batch=batch, on_message=print_message) as decider:
        return await run_items(
            "invert",
            [(pending.title, pending) for pending in todo],
            lambda pending: run_task_for_error(make_questions, store, pending, judge),
            concurrency=decider.limit_concurrency(MAX_CONCURRENT_ARTICLES),
            wait_for_capacity=decider.wait_for_capacity,
        )
