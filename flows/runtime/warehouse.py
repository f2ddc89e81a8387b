"""A flow's hold on its warehouse: waited for in the open, with the run's state saying for whom."""

import asyncio
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

from prefect.client.orchestration import get_client
from prefect.context import FlowRunContext
from prefect.states import Running

from flows.display.console import remark
from tasks.warehouse.errors import WarehouseBusy
from tasks.warehouse.store import Warehouse, open_warehouse

POLL_SECONDS = 0.5
WAITING = "Waiting"
"""The state's name in the Prefect UI; its message names the process that is waited for."""


async def hold_warehouse(warehouse: str, alone: str = "") -> AbstractContextManager[Warehouse]:
    """Open the warehouse, and the context that closes it.

    While another process owns the file the run's state is `Waiting`, with who that is; nothing is
    blocked, so the run can be cancelled. A flow inside another shares what is open.

    Args:
        alone: what no other process may do meanwhile in a lake, where nobody owns the whole, e.g.
            `reports of 2026-12`; empty for what several may do at once.

    Raises:
        WarehouseError: it cannot be opened (see `tasks.warehouse.errors`).
    """
    with ExitStack() as stack:
        store: Warehouse | None = None
        told = ""
        while True:
            try:
                store = store or stack.enter_context(
                    open_warehouse(warehouse, wait_seconds=0, doing=_doing())
                )
                if not alone or await asyncio.to_thread(store.turns.take, alone):
                    break
                whom = f"{alone}: with {await asyncio.to_thread(store.turns.holder, alone)}"
            except WarehouseBusy as busy:
                whom = busy.line
            if whom != told:
                told = whom
                remark(f"{told}; waiting for it to finish.")
                await _say(WAITING, told)
            await asyncio.sleep(POLL_SECONDS)
        if alone:
            stack.callback(store.turns.leave, alone)
        if told:
            await _say("Running", "")
        return _closing(stack.pop_all(), store)


@contextmanager
def _closing(stack: ExitStack, store: Warehouse) -> Iterator[Warehouse]:
    with stack:
        yield store


def _doing() -> str | None:
    """The run, by the name it has in the UI: the command of a served one says nothing."""
    context = FlowRunContext.get()
    return f"run {context.flow_run.name}" if context and context.flow_run else None


async def _say(name: str, message: str) -> None:
    """Name the state of this flow run, where there is one."""
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        return
    async with get_client() as client:
        await client.set_flow_run_state(
            context.flow_run.id, Running(name=name, message=message), force=True
        )
