"""Add agents to existing editions: their reports, the pages they cite, their cells and ranks."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from prefect import tags
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Completed

from flows.ask import ask
from flows.evaluate import evaluate
from flows.fetch import fetch
from flows.runtime.artifacts import (
    add_costs_artifact,
    add_leaderboard_artifacts,
    add_table_artifact,
)
from flows.runtime.task_runs import complete_flow
from flows.runtime.warehouse import hold_warehouse, recorded_flow
from tasks.configuration.models import load_judges
from tasks.costs.budget import open_budget
from tasks.editions.names import check_edition
from tasks.judges.registry import list_judges, resolve_extractor
from tasks.judging.preconditions import check_judges
from tasks.pending.reports import find_prompted_editions, has_reports
from tasks.planning.parameters import (
    AskableAgent,
    Count,
    ExtractorName,
    JudgeName,
    ProtocolName,
    Usd,
)
from tasks.planning.permission import check_permitted, describe_future_extraction
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse


def _format_run_name() -> str:
    return f"backfill · {', '.join(flow_run.parameters['agents'])}"


@recorded_flow("backfill", _format_run_name)
async def backfill(
    agents: list[AskableAgent],
    editions: list[str] | None = None,
    protocols: list[ProtocolName] | None = None,
    judge: JudgeName | None = None,
    extractor: ExtractorName | None = None,
    first: Count | None = None,
    budget_usd: Usd | None = None,
    fetch_pages: bool = True,
    warehouse: str = "data/warehouse.duckdb",
) -> State[None]:
    """Get agents' pending reports, fetch the pages they cite, judge their cells, rank again.

    It touches no report, verdict or score of other agents. Ranks and the corrections for multiple
    comparisons depend on all agents of the edition.

    Args:
        agents: agents of `configs/agents.yaml` that can be asked.
        editions: all whose assignments have prompts unless given.
        protocols: those made for the edition's source unless given.
        judge: the default of `configs/judges.yaml` unless given.
        extractor: who extracts the claims: a judge, or `offline`; unless given, the judge if it
            calls a model. Without a budget it must be named.
        first: only this many pending reports of each edition.
        budget_usd: the most this run may spend on reports and verdicts together.
        fetch_pages: fetch the pages that their reports cite and that are not fetched yet.
        warehouse: a DuckDB file or a lake's address; waits while another process owns the file.

    Returns:
        `Completed`, or a completed state named `Partial` when something is still pending.
    """
    chosen = judge or load_judges().default
    # Before the agents are paid: reports that cannot be judged or extracted need not be requested.
    check_judges(list_judges(chosen, extractor), budget_usd)
    with (
        await hold_warehouse(warehouse) as store,
        open_budget(store, budget_usd),
        tags(*(f"agent:{agent}" for agent in agents)),
    ):
        began = utc_now()
        names = editions or find_prompted_editions(store)
        for name in names:
            check_edition(store, name)
            check_permitted(
                describe_future_extraction(store, name, agents, chosen, extractor, budget_usd)
            )
        ended: list[dict[str, str]] = []
        for name in names:
            async for state in _run_stages(
                store, name, agents, first, fetch_pages, protocols, chosen, extractor
            ):
                said = {"ended": str(state.name), "said": str(state.message)}
                ended.append({"edition": name} | said)
            await add_leaderboard_artifacts(store, name)
        await add_table_artifact(
            "stages", ended, f"How each stage of backfilling {', '.join(agents)} ended."
        )
        await add_costs_artifact(store, began, "neither the agents nor the judge cost anything")
    return _summarize(ended)


def _summarize(ended: Sequence[dict[str, str]]) -> State[None]:
    """Return the run's final state, from how its stages ended."""
    if not ended:
        return Completed(message="No edition has assignments with prompts: run `evergreen assign`.")
    partial = any(stage["ended"] != "Completed" for stage in ended)
    message = " ".join(stage["said"] for stage in ended)
    return Completed(name="Partial" if partial else "Completed", message=message)


async def _run_stages(
    store: Warehouse,
    edition: str,
    agents: list[str],
    first: int | None,
    fetch_pages: bool,
    protocols: list[str] | None,
    judge: str,
    extractor: str | None,
) -> AsyncIterator[State[Any]]:
    """Run the stages of one edition; yield the state of each. A failed one raises its error, so
    that no later one is paid for."""
    path = store.url
    yield await complete_flow(ask(edition, agents, first=first, warehouse=path, return_state=True))
    reporting = [agent for agent in agents if has_reports(store, edition, agent)]
    if not reporting:
        return
    if fetch_pages:
        by = resolve_extractor(judge, extractor)
        yield await complete_flow(
            fetch(edition, reporting, extractor=by, warehouse=path, return_state=True)
        )
    yield await complete_flow(
        evaluate(edition, protocols, reporting, judge, path, extractor, return_state=True)
    )
