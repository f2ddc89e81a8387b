"""Close what died with a run in Prefect's history: its task runs and subflows, which would be shown
as running for ever."""

import logging
from datetime import UTC, datetime
from uuid import UUID

from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.actions import LogCreate
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterParentFlowRunId,
    TaskRunFilter,
    TaskRunFilterFlowRunId,
    TaskRunFilterState,
    TaskRunFilterStateType,
)
from prefect.client.schemas.objects import TERMINAL_STATES, StateType, TaskRun
from prefect.states import Crashed

UNFINISHED = sorted({*StateType} - TERMINAL_STATES)


async def close_children(client: PrefectClient, run: UUID, message: str) -> int:
    """Set the task runs and subflows of a dead run that have not ended to `Crashed`.

    Returns:
        How many they were.
    """
    parts = await client.read_flow_runs(
        flow_run_filter=FlowRunFilter(parent_flow_run_id=FlowRunFilterParentFlowRunId(any_=[run]))
    )
    closed = 0
    for part in parts:
        closed += await close_children(client, part.id, message)
        if part.state and not part.state.is_final():
            # Its task run in the parent follows it.
            await client.set_flow_run_state(part.id, Crashed(message=message), force=True)
            closed += 1
    unfinished = TaskRunFilter(
        flow_run_id=TaskRunFilterFlowRunId(any_=[run]),
        state=TaskRunFilterState(type=TaskRunFilterStateType(any_=UNFINISHED)),
    )
    tasks: list[TaskRun] = []
    while page := await client.read_task_runs(task_run_filter=unfinished, offset=len(tasks)):
        tasks += page
    for task in tasks:
        await client.set_task_run_state(task.id, Crashed(message=message), force=True)
    return closed + len(tasks)


async def log_in_run(client: PrefectClient, run: UUID, message: str) -> None:
    """Add a line to a run's log."""
    line = LogCreate(
        name="prefect.flow_runs", level=logging.WARNING, message=message,
        timestamp=datetime.now(UTC), flow_run_id=run,
    )  # fmt: skip
    await client.create_logs([line])
