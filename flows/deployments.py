"""Serve the flows as deployments: begun by their schedule, the Prefect UI or its API, and begun
again when they were killed."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID

from prefect import Flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.schedules import CronSchedule
from prefect.deployments.runner import RunnerDeployment
from prefect.exceptions import ObjectAlreadyExists, ObjectNotFound
from prefect.runner import Runner
from prefect.types.entrypoint import EntrypointType
from prefect.workers.process import ProcessWorker

from flows.registry import NAMES, RESUMES, flow_named
from flows.runtime.recovery import keep_resuming
from flows.runtime.server import ServerError
from tasks.configuration.refresh import load_refresh
from tasks.warehouse.location import Location

SERVED: dict[str, Flow[..., Any]] = {name: flow_named(name) for name in NAMES}
TAGS = {
    "backfill": ["on demand"], "publish": ["results"], "refresh": ["monthly"],
    "rejudge": ["on demand"],
}  # fmt: skip
"""What the UI can filter the deployments by, beside `evergreen`."""


def deployments(
    warehouse: Location, names: Sequence[str] = (), name: str = ""
) -> list[RunnerDeployment]:
    """A deployment for each of the named flows, or for all of them, that works on a warehouse;
    `refresh` with the schedule of `configs/refresh.yaml`.

    Descriptions, and what is said of each parameter in the form of the UI, are the docstrings of
    the flows.

    name: of the deployments; the warehouse's unless given.
    """
    return [
        served.to_deployment(  # type: ignore[misc]  # awaitable only where a loop runs
            name=name or warehouse.name,
            description=_description(served),
            parameters={"warehouse": warehouse.url},
            tags=["evergreen", *TAGS.get(flow, ["stage"])],
            schedules=_schedules(flow),
            # Found by its module's name: its file imports others of the project.
            entrypoint_type=EntrypointType.MODULE_PATH,
        )
        for flow, served in SERVED.items()
        if not names or flow in names
    ]


async def serve(
    served: Sequence[RunnerDeployment],
    *,
    at_once: int,
    resumes: int = RESUMES,
    on_message: Callable[[str], None] = print,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Look for runs of these deployments, start each in a process of its own, and begin again
    those that were killed; until cancelled or a signal.

    Args:
        at_once: runs at once. Of those that need the same DuckDB file one works, the others wait
            and say for whom.
        resumes: how often one run is begun again.
        on_message: called with what is done about runs that were killed.
        ready: called once the server knows the deployments.
    """
    # Schedules stay when this ends: who starts it again finds what is due.
    runner = Runner(limit=at_once, pause_on_shutdown=False)
    ids = [await runner.aadd_deployment(each) for each in served]
    ready()
    await _looked_after(runner.start(), ids, resumes, on_message)


async def serve_pool(
    served: Sequence[RunnerDeployment],
    pool: str,
    *,
    at_once: int,
    resumes: int = RESUMES,
    on_message: Callable[[str], None] = print,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """As `serve`, for a work pool: every host that does this takes runs from the same pool."""
    async with get_client() as client:
        with suppress(ObjectAlreadyExists):
            await client.create_work_pool(WorkPoolCreate(name=pool, type="process"))
    ids: list[UUID] = []
    for each in served:
        each.job_variables = {"working_dir": str(Path.cwd())}
        each.work_pool_name = pool
        ids.append(await each.aapply())
    ready()
    worker = ProcessWorker(work_pool_name=pool, limit=at_once)
    await _looked_after(worker.start(), ids, resumes, on_message)


async def check_names(served: Sequence[RunnerDeployment]) -> None:
    """Refuse to take over the deployments of another warehouse.

    Raises:
        ServerError: deployments of these names work on another one.
    """
    async with get_client() as client:
        for each in served:
            try:
                found = await client.read_deployment_by_name(f"{each.flow_name}/{each.name}")
            except ObjectNotFound:
                continue
            theirs = found.parameters.get("warehouse")
            if theirs != each.parameters["warehouse"]:
                raise ServerError(
                    f"The Prefect server has deployments called {each.name!r} that work on "
                    f"{theirs}. Give these another name: evergreen serve --name NAME"
                )


async def _looked_after(
    working: Any, ids: Sequence[UUID], resumes: int, on_message: Callable[[str], None]
) -> None:
    watching = asyncio.create_task(keep_resuming(ids, resumes, on_message))
    try:
        await working
    finally:
        watching.cancel()


def _schedules(flow: str) -> list[CronSchedule]:
    schedule = load_refresh().schedule if flow == "refresh" else None
    return [CronSchedule(cron=schedule.cron, timezone=schedule.timezone)] if schedule else []


def _description(served: Flow[..., Any]) -> str:
    """What its docstring says before it comes to the parameters."""
    text = (served.fn.__doc__ or "").split("Args:")[0]
    return "\n".join(line.strip() for line in text.strip().splitlines())
