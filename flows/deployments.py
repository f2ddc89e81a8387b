"""Serve the flows as deployments: started by schedule, the Prefect UI or its API, and restarted
when killed."""

import asyncio
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
from prefect import Flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.client.schemas.schedules import CronSchedule
from prefect.deployments.runner import RunnerDeployment
from prefect.exceptions import ObjectAlreadyExists, ObjectNotFound, PrefectException
from prefect.runner import Runner
from prefect.runner import runner as prefect_runner
from prefect.runner._starter_engine import EngineCommandStarter
from prefect.types.entrypoint import EntrypointType
from prefect.utilities.callables import ParameterSchema
from prefect.workers.process import (
    ProcessJobConfiguration,
    ProcessWorker,
    ProcessWorkerResult,
)

from flows import engine
from flows.alerts import stay_heard
from flows.registry import MAX_RESUMES, SERVED_FLOWS, load_flow
from flows.runtime.budgets import LIMIT
from flows.runtime.recovery import UNFINISHED, find_runs, watch_runs
from flows.runtime.served import DEPLOYED, TAG, find_deployments
from flows.runtime.server_record import ServerError
from tasks.editions.refresh import load_refresh
from tasks.warehouse.location import Location

SERVED: dict[str, Flow[..., Any]] = {name: load_flow(name) for name in SERVED_FLOWS}
USUAL_NAMES = ("warehouse", "evergreen")
"""The names of the usual file and of the usual lake, which the deployments' do not end with."""
TAGS = {
    "backfill": ["on demand"],
    "publish": ["results"],
    "refresh": ["monthly"],
    "rejudge": ["on demand"],
}
"""Tags for the UI's filters, in addition to that of all."""
NAMING_SECONDS = 60
RUN_COMMAND = shlex.join(engine.COMMAND)
# Runner (3.9.1) has no setting for it.
vars(prefect_runner)["EngineCommandStarter"] = partial(EngineCommandStarter, command=RUN_COMMAND)


def build_deployments(
    warehouse: Location, names: Sequence[str] = (), name: str = ""
) -> list[RunnerDeployment]:
    """Build a deployment for each named flow, or for all, that works on a warehouse; `refresh` gets
    the schedule of `configs/refresh.yaml`.

    The flows' docstrings become the descriptions of deployments and parameters in the UI.

    name: ends the deployments' names, beside what they do; the warehouse's name unless given, and
        nothing for a usual one.
    """
    suffix = name or ("" if warehouse.name in USUAL_NAMES else warehouse.name)
    cron = load_refresh().schedule
    schedules = [CronSchedule(cron=cron.cron, timezone=cron.timezone)] if cron else []
    built: list[RunnerDeployment] = [
        served.to_deployment(  # type: ignore[misc]  # awaitable only where a loop runs
            name="-".join(filter(None, [SERVED_FLOWS[flow], suffix])),
            description=_describe_flow(served),
            parameters={"warehouse": warehouse.url},
            tags=[TAG, *TAGS.get(flow, ["stage"])],
            schedules=schedules if flow == "refresh" else [],
            # By module: the flow's file imports others of the project.
            entrypoint_type=EntrypointType.MODULE_PATH,
        )
        for flow, served in SERVED.items()
        if not names or flow in names
    ]
    for each in built:
        schema = each._parameter_openapi_schema.model_dump(exclude_unset=True)
        each._parameter_openapi_schema = ClosedSchema(**schema, additionalProperties=False)
    return built


class ClosedSchema(ParameterSchema):
    """The schema of a flow's parameters by which the API refuses unknown names: a run that is given
    one would crash, and be restarted."""

    additionalProperties: bool = False  # noqa: N815 - as in JSON Schema


async def serve(
    served: Sequence[RunnerDeployment],
    *,
    at_once: int,
    resumes: int = MAX_RESUMES,
    on_message: Callable[[str], None] = print,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Start the runs of these deployments, each in its own process, and restart killed ones, until
    cancelled or a signal.

    Args:
        at_once: how many runs at a time. Of those that need the same DuckDB file one works; the
            states of the others name the one they wait for.
        resumes: how often one run is restarted.
        on_message: called with a line about each killed run.
        on_ready: called once the server knows the deployments.
    """
    # Schedules stay when this ends: overdue runs start with the next `serve`.
    runner = Runner(limit=at_once, pause_on_shutdown=False)
    ids = [await runner.aadd_deployment(each) for each in served]
    on_ready()
    await _run_with_recovery(runner.start(), ids, resumes, on_message)


async def serve_pool(
    served: Sequence[RunnerDeployment],
    pool: str,
    *,
    at_once: int,
    resumes: int = MAX_RESUMES,
    on_message: Callable[[str], None] = print,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Do as `serve`, for a work pool: all hosts that do this take runs from the same pool."""
    async with get_client() as client:
        with suppress(ObjectAlreadyExists):
            await client.create_work_pool(WorkPoolCreate(name=pool, type="process"))
    ids: list[UUID] = []
    for each in served:
        each.job_variables = {"working_dir": str(Path.cwd())}
        each.work_pool_name = pool
        ids.append(await each.aapply())
    on_ready()
    worker = PoolWorker(work_pool_name=pool, limit=at_once)
    await _run_with_recovery(worker.start(), ids, resumes, on_message)


class PoolWorker(ProcessWorker):
    """A worker that survives a server error while it takes a run, and starts runs by our module.

    Prefect's own worker (3.9.1) ends then, and its runs with it.
    """

    @classmethod
    def __dispatch_key__(cls) -> str:
        return "evergreen"  # Prefect's worker keeps its own key, "process"

    async def run(
        self, flow_run: FlowRun, configuration: ProcessJobConfiguration, *given: Any, **named: Any
    ) -> ProcessWorkerResult:
        configuration.command = RUN_COMMAND
        configuration._command_configured = True
        return await super().run(flow_run, configuration, *given, **named)

    async def _submit_run(self, flow_run: FlowRun) -> None:
        try:
            await super()._submit_run(flow_run)
        except httpx.HTTPError as error:
            self.get_flow_run_logger(flow_run).warning(
                "The Prefect server did not answer (%r). The run is tried again at the next poll.",
                error,
            )
            self._release_limit_slot(flow_run.id)
            self._submitting_flow_run_ids.discard(flow_run.id)
            if self._cancelling_observer is not None:  # another host may take and cancel it
                self._cancelling_observer.remove_in_flight_flow_run_id(flow_run.id)


async def check_names(served: Sequence[RunnerDeployment]) -> None:
    """Refuse to take over the deployments of another warehouse.

    Raises:
        ServerError: deployments with these names work on another warehouse.
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
                    f"The Prefect server has deployments named {each.name!r} that work on "
                    f"{theirs}. Give these another name: evergreen serve --name NAME"
                )


async def retire_former(served: Sequence[RunnerDeployment]) -> list[RunnerDeployment]:
    """Remove the deployments of the same flows and warehouse that have other names, since their
    schedules would begin a month twice; return those whose runs have not ended, to be served as
    well, without a schedule."""
    kept = []
    async with get_client() as client:
        for each in served:
            found = await find_deployments(
                client, str(each.flow_name), each.parameters["warehouse"]
            )
            for former in found:
                if former.name == each.name or DEPLOYED in former.tags:
                    continue
                unscheduled = each.model_copy(update={"name": former.name, "schedules": []})
                await unscheduled.aapply()
                if await find_runs(client, [former.id], *UNFINISHED):
                    kept.append(unscheduled)
                else:
                    await client.delete_deployment(former.id)
    return kept


async def limit_runs(runs_at_once: Mapping[str, int]) -> None:
    """Make, change and remove our concurrency limits, which count the runs that use a provider."""
    async with get_client() as client:
        for former in await client.read_global_concurrency_limits(limit=200):
            if former.name.startswith(LIMIT) and former.name[len(LIMIT) :] not in runs_at_once:
                with suppress(ObjectNotFound):  # another `serve` was faster
                    await client.delete_global_concurrency_limit_by_name(former.name)
        for name, n in runs_at_once.items():
            await client.upsert_global_concurrency_limit_by_name(LIMIT + name, n)


async def name_planned_runs(deployments: Sequence[UUID]) -> None:
    """Name the planned runs of these deployments after their months: Prefect names a run only once
    it begins."""
    async with get_client() as client:
        for run in await find_runs(client, deployments, StateType.SCHEDULED):
            if "auto-scheduled" in run.tags and run.expected_start_time:
                name = f"refresh / {load_refresh().edition_of(run.expected_start_time)}"
                if run.name != name:
                    await client.update_flow_run(run.id, name=name)


async def _keep_named(deployments: Sequence[UUID]) -> None:
    while True:
        with suppress(httpx.HTTPError, PrefectException):  # the server is away, or a run is
            await name_planned_runs(deployments)
        await asyncio.sleep(NAMING_SECONDS)


async def _run_with_recovery(
    working: Any, ids: Sequence[UUID], resumes: int, on_message: Callable[[str], None]
) -> None:
    beside = [
        asyncio.create_task(_keep_named(ids)),
        asyncio.create_task(watch_runs(ids, resumes, on_message)),
        asyncio.create_task(stay_heard(load_refresh(), on_message)),
    ]
    try:
        await working
    finally:
        for task in beside:
            task.cancel()


def _describe_flow(served: Flow[..., Any]) -> str:
    """Return a flow's docstring up to its parameters."""
    text = (served.fn.__doc__ or "").split("Args:")[0]
    return "\n".join(line.strip() for line in text.strip().splitlines())
