"""Stages of collecting an edition: list, date and measure candidates, then freeze articles."""

from typing import Any

from tasks.collection.freeze import freeze_article, freeze_edition
from tasks.collection.listing import date_members, list_members, measure_batch
from tasks.stage import is_transient, stage_task
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse
from tasks.warehouse.wiki_editions import Candidate, Collection

# The wiki client retries transient errors itself: only a crashed helper is worth another try.


@stage_task("list · {edition}", retry_condition_fn=is_transient)
async def list_candidates(warehouse: Warehouse, edition: str) -> int:
    """List the pages of the category that may fall into the window; return how many."""
    return await list_members(warehouse, load_collection(warehouse, edition))


@stage_task("date · {edition}", retry_condition_fn=is_transient)
async def date_candidates(warehouse: Warehouse, edition: str, on_progress: Any) -> int:
    """Find when the candidates were created; return how many fall into the window."""
    return await date_members(warehouse, load_collection(warehouse, edition), on_progress)


@stage_task("measure · {edition} · {first_title}", retry_condition_fn=is_transient)
async def measure_candidates(
    warehouse: Warehouse, edition: str, first_title: str, candidates: list[Candidate]
) -> None:
    """Load the measures that candidates are chosen by, for one request's worth of candidates."""
    await measure_batch(warehouse, load_collection(warehouse, edition), candidates)


@stage_task("freeze · {candidate.title}", retry_condition_fn=is_transient)
async def freeze_candidate(warehouse: Warehouse, edition: str, candidate: Candidate) -> None:
    """Store a chosen article at its pinned revision."""
    await freeze_article(warehouse, load_collection(warehouse, edition), candidate)


@stage_task("close · {edition}", retry_condition_fn=is_transient)
async def close_edition(warehouse: Warehouse, edition: str) -> str:
    """Write the edition's manifest, which freezes it; return the manifest's hash."""
    frozen = freeze_edition(warehouse, load_collection(warehouse, edition))
    export_edition(warehouse, edition)
    return str(frozen.manifest_sha)


def load_collection(warehouse: Warehouse, edition: str) -> Collection:
    """Return the collection that was begun under this name."""
    return warehouse.rows(Collection, "edition = $1", [edition])[0]
