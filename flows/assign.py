"""Make an edition's assignments."""

from flows.runtime.artifacts import (
    add_costs_artifact,
    add_failures_artifact,
    add_table_artifact,
    add_text_artifact,
    escape_markdown,
)
from flows.runtime.warehouse import warehouse_flow
from flows.stages import run_stage
from tasks.assignments import ASSIGNMENTS
from tasks.editions.prompts import describe_assigned
from tasks.outcome import Outcome, join_outcomes
from tasks.planning.edition_options import AssignOptions
from tasks.questions import QUESTIONS, count_question_states, describe_accepted
from tasks.run import RunContext
from tasks.warehouse.rows import utc_now


@warehouse_flow("assign", AssignOptions, "assign / {edition}", lock="assignments of {edition}")
async def assign(run: RunContext, options: AssignOptions) -> Outcome:
    """Make the pending assignments of an edition.

    Returns:
        `Completed`; `Cached` if nothing was pending; `Partial` when something still is.
    """
    store, edition, began = run.store, options.edition, utc_now()
    if not options.asks_questions:
        new = len(run.plan.find_pending(ASSIGNMENTS))
        outcome = await run_stage(run, ASSIGNMENTS)
        message = describe_assigned(store, edition, new)
        await add_text_artifact(
            "assignments", escape_markdown(message), f"{edition}: what agents are asked."
        )
        return join_outcomes(message, [outcome])
    outcome = await run_stage(run, QUESTIONS)
    await add_table_artifact(
        "questions",
        count_question_states(store, edition).to_dicts(),
        f"{edition}: the questions that were made, by state.",
    )
    await add_failures_artifact(outcome.failures)
    await add_costs_artifact(store, began, "no model was called")
    return join_outcomes(describe_accepted(store, edition), [outcome])
