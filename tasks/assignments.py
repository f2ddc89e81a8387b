"""Stage assignments: the prompts to write articles."""

from collections.abc import Sequence

from tasks.editions.prompts import assign_writing, find_unprompted_articles
from tasks.run import RunContext
from tasks.stage import OnProgress, Output, Stage, open_alone
from tasks.warehouse.rows import Article, Assignment


async def _assign(run: RunContext, articles: Sequence[Article], on_progress: OnProgress) -> None:
    assign_writing(run.store, run.plan.selection.edition)


ASSIGNMENTS = Stage(
    name="assign",
    task="assign_articles",
    item="article",
    inputs=("articles",),
    outputs=(Output("assignment", Assignment, "prompt IS NOT NULL"),),
    find_pending=lambda plan: find_unprompted_articles(plan.store, plan.selection.edition),
    open=open_alone(_assign),
    split=lambda articles: [articles],
    title=lambda articles: "prompts",
    size=len,
    retry_on=(Exception,),
    fails_run=True,
)
