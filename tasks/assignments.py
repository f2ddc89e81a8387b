"""Stage assignments: what agents are asked."""

from prefect import task
from prefect.cache_policies import NO_CACHE

from tasks.editions.prompts import assign_writing
from tasks.warehouse.store import opened


@task(
    task_run_name="assign · {edition}",
    retries=2,
    retry_delay_seconds=1,
    cache_policy=NO_CACHE,
    persist_result=False,
)
async def assign_articles(warehouse_path: str, edition: str) -> int:
    """An assignment to write each article that has none yet; how many are new."""
    return assign_writing(opened(warehouse_path), edition)
