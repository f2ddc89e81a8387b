"""Stage assignments: the prompts to write articles."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from tasks.editions.prompts import assign_writing, find_unprompted_articles
from tasks.run import RunContext
from tasks.stage import OnProgress, Stage, Worker
from tasks.warehouse.rows import Article


@asynccontextmanager
async def _open(
    run: RunContext, todo: Sequence[Article]
) -> AsyncIterator[Worker[Sequence[Article]]]:
    async def assign(articles: Sequence[Article], on_progress: OnProgress) -> None:
        assign_writing(run.store, run.plan.selection.edition)

    yield Worker(assign)


ASSIGNMENTS = Stage(
    name="assign",
    task="assign_articles",
    run_name="assign · {edition}",
    find_pending=lambda plan: find_unprompted_articles(plan.store, plan.selection.edition),
    open=_open,
    split=lambda articles: [articles],
    title=lambda articles: "prompts",
    size=len,
    retry_on=(Exception,),
    fails_run=True,
)
