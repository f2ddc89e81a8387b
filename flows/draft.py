"""Draft rubrics for an edition's articles, as files for a person to review."""

from flows.runtime.artifacts import (
    add_costs_artifact,
    add_failures_artifact,
    add_text_artifact,
    escape_markdown,
)
from flows.runtime.warehouse import warehouse_flow
from flows.stages import run_stage
from tasks.drafts import DRAFTS
from tasks.outcome import Outcome, join_outcomes
from tasks.planning.edition_options import DraftOptions
from tasks.run import RunContext
from tasks.warehouse.rows import utc_now


@warehouse_flow("draft", DraftOptions, "draft / {edition}", lock="drafts of {edition}")
async def draft(run: RunContext, options: DraftOptions) -> Outcome:
    """Draft a bundle of Rigorous Bench for every article that has no file yet.

    Returns:
        `Completed`; `Cached` if nothing was pending; `Partial` when something still is.
    """
    edition, to, began = options.edition, options.to, utc_now()
    todo = run.plan.find_pending(DRAFTS)
    outcome = await run_stage(run, DRAFTS)
    there = f"{sum(pending.path.exists() for pending in todo)} of {len(todo)} drafts"
    await add_text_artifact(
        "drafts", f"{there} are in {escape_markdown(to)}.", f"{edition}: drafted rubrics."
    )
    await add_failures_artifact(outcome.failures)
    await add_costs_artifact(run.store, began, "no model was called")
    message = options.find_outcome(run.plan) or f"{edition}: {there} in {to}."
    return join_outcomes(message, [outcome])
