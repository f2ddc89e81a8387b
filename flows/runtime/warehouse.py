"""Open a flow's warehouse; while another process owns it, the run's state names that process.

Served runs are recorded in the audit; the runs that a command makes are part of its own row.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import wraps
from importlib.metadata import version
from typing import Any, ParamSpec, TypeVar

from prefect import Flow, flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun, State
from prefect.context import FlowRunContext
from prefect.exceptions import Pause
from prefect.states import Running

from flows.display.console import print_message
from tasks.warehouse.audit import Activity, AuditEntry, Outcome, get_activity, set_activity
from tasks.warehouse.errors import WarehouseBusy
from tasks.warehouse.locks import acquire_lock
from tasks.warehouse.recording import end_activity, make_activity
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change

ArgumentsT = ParamSpec("ArgumentsT")
ResultT = TypeVar("ResultT")
Work = Callable[ArgumentsT, Coroutine[Any, Any, ResultT]]
POLL_SECONDS = 0.5
WAITING = "Waiting"
"""The state's name in the Prefect UI; its message names the owning process."""


async def hold_warehouse(warehouse: str, lock: str = "") -> AbstractContextManager[Warehouse]:
    """Open the warehouse; return the context that closes it.

    While another process owns the file, the run's state is `Waiting` with that process in its
    message, and the run can be cancelled. A flow inside another shares the open warehouse.

    Args:
        lock: work that one process at a time may do in a lake, which no process owns as a whole,
            e.g. `reports of 2026-12`; empty for work that several may do at once.

    Raises:
        WarehouseError: it cannot be opened (see `tasks.warehouse.errors`).
    """
    with ExitStack() as stack:
        store: Warehouse | None = None
        waiting_for = ""
        while True:
            try:
                store = store or stack.enter_context(
                    open_warehouse(warehouse, wait_seconds=0, activity=_name_run())
                )
                if not lock or await acquire_lock(store.locks, lock):
                    break
                holder = await asyncio.to_thread(store.locks.describe_holder, lock)
                owner = f"{lock} is locked by {holder}"
            except WarehouseBusy as busy:
                owner = busy.line
            if owner != waiting_for:
                waiting_for = owner
                print_message(f"{waiting_for}; waiting for it to finish.")
                await _set_run_state(WAITING, waiting_for)
            await asyncio.sleep(POLL_SECONDS)
        if lock:
            stack.callback(store.locks.release, lock)
        if waiting_for:
            await _set_run_state("Running", "")
        record_run(store)
        return _close_later(stack.pop_all(), store)


@contextmanager
def _close_later(stack: ExitStack, store: Warehouse) -> Iterator[Warehouse]:
    with stack:
        yield store


def _name_run() -> str | None:
    """Name the run as the UI does, since the command line of a served run tells nothing."""
    context = FlowRunContext.get()
    return f"run {context.flow_run.name}" if context and context.flow_run else None


async def _set_run_state(name: str, message: str) -> None:
    """Set the name and message of this flow run's state; do nothing outside of a run."""
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        return
    async with get_client() as client:
        await client.set_flow_run_state(
            context.flow_run.id, Running(name=name, message=message), force=True
        )


def recorded_flow(
    name: str, flow_run_name: str | Callable[[], str]
) -> Callable[[Work[ArgumentsT, ResultT]], Flow[ArgumentsT, Coroutine[Any, Any, ResultT]]]:
    """Make a flow of a function that opens the warehouse, and record its runs in the audit.

    A run's row is complete before Prefect gives the run its last state: whoever sees that state
    finds the warehouse free. (Prefect calls hooks afterwards.)
    """
    make = flow(name=name, flow_run_name=flow_run_name, version=version("evergreen-bench"))
    return lambda work: make(_record_end(work))


def _record_end(work: Work[ArgumentsT, ResultT]) -> Work[ArgumentsT, ResultT]:
    @wraps(work)
    async def run(*arguments: ArgumentsT.args, **named: ArgumentsT.kwargs) -> ResultT:
        try:
            result = await work(*arguments, **named)
        except Pause:  # it is suspended until a person has answered
            _end_run("incomplete", None)
            raise
        except BaseException as error:
            _end_run("failed", type(error).__name__)
            raise
        _end_run(*_describe_result(result))
        return result

    return run


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


def _end_run(outcome: Outcome, error: str | None) -> None:
    context, activity = FlowRunContext.get(), get_activity()
    if context is None or context.flow_run is None or activity is None:
        return
    if activity.entry.flow_run == str(context.flow_run.id):
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


def _describe_result(result: object) -> tuple[Outcome, str | None]:
    if not isinstance(result, State) or result.name == "Completed":
        return "ok", None
    return ("incomplete", None) if result.is_completed() else ("failed", result.name)
