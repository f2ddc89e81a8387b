"""Import and evaluate a published edition, as `evergreen demo` does."""

from pathlib import Path

from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows.evaluate import evaluate
from flows.runtime.artifacts import add_costs_artifact, add_leaderboard_artifacts
from flows.runtime.task_runs import complete_flow
from flows.runtime.warehouse import hold_warehouse, recorded_flow
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import find_packaged
from tasks.reports import import_published
from tasks.warehouse.rows import utc_now

SAMPLE = "sample"
"""The edition that comes with Evergreen."""


@recorded_flow("bring_in", "bring in · {edition}")
async def bring_in(
    edition: str,
    source: str | None = None,
    agents: list[str] | None = None,
    judge: str | None = None,
    protocols: list[str] | None = None,
    warehouse: str = "data/warehouse.duckdb",
) -> State[None]:
    """Import an edition and evaluate it; run it again whenever its folder has something new.

    Args:
        edition: its name.
        source: the edition's folder, in a published layout; not needed for `sample`, which comes
            with Evergreen.
        agents: import and judge only these; all unless given.
        judge: the default of `configs/judges.yaml` unless given.
        protocols: those made for the edition's source unless given.
        warehouse: a DuckDB file or a lake's address; waits while another process owns the file.

    Returns:
        The state of the evaluation: `Completed` or `Partial`.
    """
    if source is None and edition != SAMPLE:
        raise ConfigurationError(
            f"`source` is missing: expected the folder of the edition {edition}. Only {SAMPLE!r} "
            "comes with Evergreen."
        )
    folder = Path(source) if source else find_packaged(SAMPLE)
    with await hold_warehouse(warehouse) as store:
        began = utc_now()
        await import_published(store, str(folder), edition, sorted(agents or []))
        state = await complete_flow(
            evaluate(edition, protocols, agents, judge, store.url, return_state=True)
        )
        await add_leaderboard_artifacts(store, edition)
        await add_costs_artifact(store, began, "no model was called")
        # Returned unchanged, a subflow's state loses its name and message in its parent.
        return Completed(name=state.name, message=state.message)
