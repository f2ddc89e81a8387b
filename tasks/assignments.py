"""Stage assignments: what agents are asked."""

from tasks.editions.prompts import assign_writing
from tasks.stage import stage_task
from tasks.warehouse.store import get_open_warehouse


@stage_task("assign · {edition}")
async def assign_articles(warehouse_path: str, edition: str) -> int:
    """An assignment to write each article that has none yet; how many are new."""
    return assign_writing(get_open_warehouse(warehouse_path), edition)
