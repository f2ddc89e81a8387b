"""Add agents to existing editions: their reports, the pages they cite, their cells and ranks."""

from prefect.runtime import flow_run

from flows.registry import load_flow
from flows.runtime.artifacts import (
    add_costs_artifact,
    add_leaderboard_artifacts,
    add_table_artifact,
)
from flows.runtime.warehouse import warehouse_flow
from tasks.configuration.models import load_judges
from tasks.editions.names import check_edition
from tasks.jobs.pending import find_prompted_editions
from tasks.judges.registry import list_judges
from tasks.judging.session import check_judges
from tasks.outcome import Outcome, join_outcomes
from tasks.planning.options import BackfillOptions
from tasks.planning.permission import check_permitted, describe_future_extraction
from tasks.planning.steps import list_backfill_steps
from tasks.run import RunContext
from tasks.warehouse.rows import utc_now


def _format_run_name() -> str:
    return f"backfill / {', '.join(flow_run.parameters['agents'])}"


@warehouse_flow("backfill", BackfillOptions, _format_run_name)
async def backfill(run: RunContext, options: BackfillOptions) -> Outcome:
    """Get agents' pending reports, fetch the pages they cite, judge their cells, rank again.

    It touches no report, verdict or score of other agents. Ranks and the corrections for multiple
    comparisons depend on all agents of the edition.

    Returns:
        `Completed`; `Cached` if nothing was pending; `Open` or `Partial` when something still is.
    """
    store, agents, began = run.store, options.agents, utc_now()
    chosen = options.judge or load_judges().default
    # Before the agents are paid: reports that cannot be judged or extracted need not be requested.
    check_judges(list_judges(chosen, options.extractor), options.budget_usd)
    names = options.editions or find_prompted_editions(store)
    for name in names:
        check_edition(store, name)
        check_permitted(
            describe_future_extraction(
                store, name, agents, chosen, options.extractor, options.budget_usd
            )
        )
    ended: list[tuple[dict[str, str], Outcome]] = []
    for name in names:
        for step in list_backfill_steps(store, name, options, chosen):
            # A failed step raises its error, so that no later one is paid for.
            outcome = (await load_flow(step.flow).within(run, step.options)).require()
            said = {"ended": outcome.name, "said": outcome.message}
            ended.append(({"edition": name, "step": step.name} | said, outcome))
        await add_leaderboard_artifacts(store, name)
    await add_table_artifact(
        "steps",
        [row for row, _ in ended],
        f"How each step of backfilling {', '.join(agents)} ended.",
    )
    await add_costs_artifact(store, began, "neither the agents nor the judge cost anything")
    if not ended:
        nothing = "No edition has assignments with prompts: run `evergreen assign`."
        return Outcome("partial", nothing)
    outcomes = [outcome for _, outcome in ended]
    return join_outcomes(" ".join(outcome.message for outcome in outcomes), outcomes)
