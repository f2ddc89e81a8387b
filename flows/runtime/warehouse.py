"""Open a flow's warehouse; while another process owns it, the run's state names that process."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib.metadata import version
from typing import Any, ParamSpec, TypeVar

from prefect import Flow, flow
from prefect.client.orchestration import get_client
from prefect.context import FlowRunContext
from prefect.states import Running

from flows.display.console import print_message
from tasks.warehouse.errors import WarehouseBusy
from tasks.warehouse.locks import acquire_lock
from tasks.warehouse.store import Warehouse, open_warehouse

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
    """Make a flow, with Evergreen's version, of a function that opens the warehouse."""
    return flow(name=name, flow_run_name=flow_run_name, version=version("evergreen-bench"))
