"""What the Prefect tasks of all stages have in common."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.tasks import Task

from tasks.processes.pool import HelperCrashed

P = ParamSpec("P")
R = TypeVar("R")


def stage_task(run_name: str, **settings: Any) -> Callable[[Callable[P, R]], Task[P, R]]:
    """A stage's task: its state is in the warehouse, so Prefect keeps no result and caches none,
    and tries again twice, a second apart.

    Args:
        run_name: of its runs, a template of the parameters' names.
        settings: of `prefect.task`, where they differ.
    """
    defaults = {
        "retries": 2, "retry_delay_seconds": 1, "cache_policy": NO_CACHE, "persist_result": False,
    }  # fmt: skip
    return task(task_run_name=run_name, **{**defaults, **settings})


async def is_transient(task: Task[..., object], run: TaskRun, state: State[object]) -> bool:
    """What a second try may heal: the clients have already retried what is theirs."""
    error = await state.aresult(raise_on_failure=False)
    return isinstance(error, HelperCrashed)
