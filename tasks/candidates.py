"""Stages of collecting: candidates are listed, dated, measured; the chosen ones frozen."""

from typing import Any

from tasks.collection.freeze import freeze_article, freeze_edition
from tasks.collection.listing import date_members, list_members, measure
from tasks.stage import is_transient, stage_task
from tasks.warehouse.collected import Candidate, Collection
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse, get_open_warehouse

# The wiki's client has retried what may heal: only a crashed helper is worth another try.


@stage_task("list · {edition}", retry_condition_fn=is_transient)
async def list_candidates(warehouse_path: str, edition: str) -> int:
    """Every page of the category that may be of the window; how many."""
    warehouse = get_open_warehouse(warehouse_path)
    return await list_members(warehouse, collection_of(warehouse, edition))


@stage_task("date · {edition}", retry_condition_fn=is_transient)
async def date_candidates(warehouse_path: str, edition: str, on_progress: Any) -> int:
    """When the candidates were created that may be of the window; how many are of it."""
    warehouse = get_open_warehouse(warehouse_path)
    return await date_members(warehouse, collection_of(warehouse, edition), on_progress)


@stage_task("measure · {edition} · {first_title}", retry_condition_fn=is_transient)
async def measure_candidates(
    warehouse_path: str, edition: str, first_title: str, candidates: list[Candidate]
) -> None:
    """What the choice rests on, for as many candidates as one request can ask about."""
    warehouse = get_open_warehouse(warehouse_path)
    await measure(warehouse, collection_of(warehouse, edition), candidates)


@stage_task("freeze · {title}", retry_condition_fn=is_transient)
async def freeze(warehouse_path: str, edition: str, title: str, candidate: Candidate) -> None:
    """One chosen article at its pinned revision."""
    warehouse = get_open_warehouse(warehouse_path)
    await freeze_article(warehouse, collection_of(warehouse, edition), candidate)


@stage_task("close · {edition}", retry_condition_fn=is_transient)
async def close_edition(warehouse_path: str, edition: str) -> str:
    """The edition's manifest, after which nothing of it changes; its hash."""
    warehouse = get_open_warehouse(warehouse_path)
    frozen = freeze_edition(warehouse, collection_of(warehouse, edition))
    export_edition(warehouse, edition)
    return str(frozen.manifest_sha)


def collection_of(warehouse: Warehouse, edition: str) -> Collection:
    """The collection that was begun under this name."""
    return warehouse.rows(Collection, "edition = $1", [edition])[0]
