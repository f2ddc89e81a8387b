"""Assign an edition's articles: what each agent is asked."""

from pathlib import Path

from prefect import flow, tags
from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows.console import REMARKS
from tasks.assignments import assign_articles
from tasks.warehouse.store import open_warehouse


@flow(name="assign", flow_run_name="assign · {edition}")
async def assign(
    edition: str, protocol: str = "wiki_writing", warehouse: str = "data/warehouse.duckdb"
) -> State[None]:
    """Make the assignments of an edition that are not there yet.

    Args:
        protocol: what reports will be judged by, which says what agents are asked.
        warehouse: the DuckDB file; waited for while another process owns it.

    Returns:
        `Completed`, or a completed state named `Partial` when something is left to do.
    """
    with (
        open_warehouse(Path(warehouse), on_wait=REMARKS.print) as store,
        tags(f"edition:{edition}"),
    ):
        new = assign_articles(str(store.path), edition)
        n = store.value(
            "SELECT count(*) FROM assignments WHERE edition = $1 AND prompt IS NOT NULL", [edition]
        )
        return Completed(message=f"{edition}: {n} assignments, {new} of them new.")
