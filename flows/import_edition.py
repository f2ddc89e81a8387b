"""A published edition, from its folder to the leaderboard: what `evergreen demo` shows."""

from pathlib import Path
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows.evaluate import evaluate
from flows.runtime.artifacts import leave_costs, leave_leaderboard
from flows.runtime.warehouse import hold_warehouse
from tasks.configuration.editions import edition_folder
from tasks.reports import import_published
from tasks.warehouse.rows import utc_now


@flow(name="bring_in", flow_run_name="bring in · {edition}")
async def bring_in(
    edition: str,
    source: str | None = None,
    agents: list[str] | None = None,
    judge: str | None = None,
    protocols: list[str] | None = None,
    warehouse: str = "data/warehouse.duckdb",
) -> State[None]:
    """Import an edition and evaluate it; run it again whenever something is new.

    Args:
        edition: its name; without `source`, one that `configs/editions.yaml` lists.
        source: the folder of a published layout.
        agents: only these are brought in and judged; all unless named.
        judge: the default of `configs/judges.yaml` unless named.
        protocols: those that are made for editions of its source, unless named.
        warehouse: a DuckDB file, waited for while another process owns it, or a lake's address.

    Returns:
        The state of the evaluation: `Completed` or `Partial`.
    """
    folder = Path(source) if source else edition_folder(edition)
    with await hold_warehouse(warehouse) as store:
        path, began = store.url, utc_now()
        await import_published(path, str(folder), edition, sorted(agents or []))
        outcome: Any = evaluate(edition, protocols, agents, judge, path, return_state=True)
        state: State[None] = await outcome
        if not state.is_completed():
            await state.aresult()  # raises what it failed with
        await leave_leaderboard(store, edition)
        await leave_costs(store, began, "no model was called")
        # Returned as it is, a subflow's state loses its name and message in its parent.
        return Completed(name=state.name, message=state.message)
