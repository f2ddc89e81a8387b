"""Stage assignments: the prompts to write articles."""

from tasks.editions.prompts import assign_writing
from tasks.stage import stage_task
from tasks.warehouse.store import Warehouse


@stage_task("assign · {edition}")
async def assign_articles(warehouse: Warehouse, edition: str) -> int:
    """Create an assignment for each article that has none; return how many are new."""
    return assign_writing(warehouse, edition)
