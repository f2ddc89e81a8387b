"""The subflow that has key points made, by the judge of the run where it is a model."""

from prefect import flow, tags

from flows.display.console import remark
from flows.runtime.fan_out import run_items
from flows.stages import Failure
from tasks.judging.session import judging
from tasks.key_points import make_key_points
from tasks.pending.evaluation import Evaluation, pending_points
from tasks.warehouse.store import opened

STAGE = "key points"
ARTICLES_AT_ONCE = 16
"""How many calls are under way is for the judge's limits to say."""


@flow(name=STAGE, flow_run_name="key points · {run.edition}", validate_parameters=False)
async def key_points_stage(run: Evaluation, items: int) -> list[Failure]:
    """Key points of every assignment that waits for them, an assignment a task."""
    todo = pending_points(run)
    store = opened(run.warehouse)
    async with judging(store, run.judge, batch=run.batch, say=remark) as decider:
        with tags("agent:(articles)"):
            return await run_items(
                STAGE,
                [(item.title, item) for item in todo],
                lambda _, item: make_key_points(run.warehouse, item, run.judge, return_state=True),
                at_once=len(todo) if decider.batch else ARTICLES_AT_ONCE,
                room=decider.room,
            )
