"""The subflow that has key points made, by the judge of the run where it is a model."""

from collections.abc import Sequence

from prefect import flow, tags

from flows.pace import FOREIGN_PER_SECOND, LOCAL_PER_SECOND, Pace
from flows.progress import StageProgress, stage_progress
from flows.server import is_local
from flows.stages import Evaluation, Failure, all_of, error_of, finished, first_line, say
from tasks.judges.registry import judge
from tasks.judges.research import ExtractKeyPoints
from tasks.judging import judging
from tasks.key_points import make_key_points
from tasks.models.errors import StopsTheStage
from tasks.unpointed import Unpointed, go_by_key_points, unpointed
from tasks.warehouse.store import opened

STAGE = "key points"


def pending_points(run: Evaluation) -> list[Unpointed]:
    """The assignments whose key points are to be made: none where no protocol goes by them, or
    the judge cannot make any."""
    if not go_by_key_points(run.protocols) or ExtractKeyPoints not in judge(run.judge).decides:
        return []
    return unpointed(opened(run.warehouse), run.edition, run.agents)


@flow(name=STAGE, flow_run_name="key points · {run.edition}", validate_parameters=False)
async def key_points_stage(run: Evaluation, items: int) -> list[Failure]:
    """Key points of every assignment that waits for them, an assignment a task."""
    todo = pending_points(run)
    pace = Pace(LOCAL_PER_SECOND if is_local() else FOREIGN_PER_SECOND)
    failures: list[Failure] = []
    stops: list[StopsTheStage] = []
    left: list[Unpointed] = []

    async def one(item: Unpointed, progress: StageProgress) -> None:
        await session.room()
        async with pace:
            pass
        if stops:
            left.append(item)
            return
        with tags("agent:(articles)"):
            state = await finished(
                make_key_points(run.warehouse, item, run.judge, return_state=True)
            )
        error = await error_of(state)
        if isinstance(error, StopsTheStage):
            stops.append(error)
            left.append(item)
        elif error:
            failures.append(Failure(STAGE, item.title, first_line(error)))
        await progress.advance()

    async with (
        judging(opened(run.warehouse), run.judge, batch=run.batch, say=say) as session,
        stage_progress(STAGE, len(todo)) as progress,
    ):
        await all_of(one(item, progress) for item in todo)
    return [*failures, *_stopped(left, stops)]


def _stopped(left: Sequence[Unpointed], stops: Sequence[StopsTheStage]) -> list[Failure]:
    if not stops:
        return []
    return [Failure(STAGE, f"{len(left)} articles are left without key points", str(stops[0]))]
