"""What Prefect may try again: only what nobody below has retried already."""

from prefect.client.schemas.objects import State, TaskRun
from prefect.tasks import Task

from tasks.processes.pool import HelperCrashed


async def is_transient(task: Task[..., object], run: TaskRun, state: State[object]) -> bool:
    """What a second try may heal: the clients have already retried what is theirs."""
    error = await state.aresult(raise_on_failure=False)
    return isinstance(error, HelperCrashed)
