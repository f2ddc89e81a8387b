"""The settings that all stages' Prefect tasks share."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.tasks import Task

from tasks.processes.helper import HelperCrashed

P = ParamSpec("P")
R = TypeVar("R")


def stage_task(run_name: str, **settings: Any) -> Callable[[Callable[P, R]], Task[P, R]]:
    """Make a function a stage's task. Its state is in the warehouse, so Prefect neither keeps nor
    caches results; it retries twice, a second apart.

    Args:
        run_name: template of the runs' names, from the parameters' names.
        settings: overrides for `prefect.task`.
    """
    defaults = {"retries": 2, "retry_delay_seconds": 1, "persist_result": False}
    return task(task_run_name=run_name, **{"cache_policy": NO_CACHE, **defaults, **settings})


async def is_transient(task: Task[..., object], run: TaskRun, state: State[object]) -> bool:
    """Whether a retry may help. Clients have already retried their own errors."""
    error = await state.aresult(raise_on_failure=False)
    return isinstance(error, HelperCrashed)
