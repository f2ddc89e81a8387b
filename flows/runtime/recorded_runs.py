"""Record served runs in the audit; the runs that a command makes are part of its own row."""

from typing import Any

from prefect import Flow
from prefect.client.schemas.objects import FlowRun, State
from prefect.context import FlowRunContext

from flows.display.console import print_message
from tasks.warehouse.audit import Activity, AuditEntry, Outcome, get_activity, set_activity
from tasks.warehouse.recording import end_activity, make_activity
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change


def record_run(store: Warehouse) -> None:
    """Write the row of this run, unless a command, or the run that it is part of, has one."""
    context = FlowRunContext.get()
    if context is None or context.flow_run is None or context.flow is None:
        return
    run, before = context.flow_run, get_activity()
    if run.parent_task_run_id is not None or (before and _is_of(before, run)):
        return
    activity = _describe_run(store, context.flow, run)
    set_activity(activity)
    store.write(Change(AuditEntry, [activity.entry]))
    for hooks in _find_hooks(context.flow):
        if end_run not in hooks:
            hooks.append(end_run)


async def end_run(flow: Flow[..., Any], run: FlowRun, state: State[Any]) -> None:
    """Complete the row of a run that has ended; Prefect calls it."""
    activity = get_activity()
    if activity is None or activity.entry.flow_run != str(run.id):
        return
    outcome, error = await _describe_end(state)
    end_activity(activity, outcome, error, print_message)
    set_activity(None)


def _is_of(activity: Activity, run: FlowRun) -> bool:
    return activity.entry.kind == "command" or activity.entry.flow_run == str(run.id)


def _describe_run(store: Warehouse, flow: Flow[..., Any], run: FlowRun) -> Activity:
    given = {name: value for name, value in run.parameters.items() if name != "warehouse"}
    asked = given.get("edition") or given.get("editions")
    return make_activity(
        store.location,
        "flow",
        flow.name,
        given,
        edition=", ".join(asked) if isinstance(asked, list) else asked,
        deployment=str(run.deployment_id) if run.deployment_id else None,
        flow_run=str(run.id),
    )


def _find_hooks(flow: Flow[..., Any]) -> tuple[list[Any], ...]:
    return (
        flow.on_completion_hooks,
        flow.on_failure_hooks,
        flow.on_cancellation_hooks,
        flow.on_crashed_hooks,
    )


async def _describe_end(state: State[Any]) -> tuple[Outcome, str | None]:
    if state.is_completed():
        return ("ok" if state.name == "Completed" else "incomplete"), None
    error = await state.aresult(raise_on_failure=False) if state.is_failed() else None
    return "failed", type(error).__name__ if isinstance(error, BaseException) else state.name
