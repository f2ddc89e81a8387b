"""Flows, made from the models of their parameters; what each opens, and how one runs as a part of
another. While another process owns the warehouse, the run's state names that process.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack, contextmanager
from functools import partial, wraps
from importlib.metadata import version
from typing import Any, Generic, TypeVar

from prefect import Flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from prefect.concurrency.asyncio import concurrency
from prefect.context import FlowRunContext
from prefect.states import Running

from flows.display.console import print_message
from flows.runtime.budgets import check_budget, list_limits
from flows.runtime.outcomes import read_outcome, to_state
from flows.runtime.recovery import run_held
from tasks.configuration.models import load_judges
from tasks.outcome import Outcome
from tasks.planning.options import FlowOptions
from tasks.run import Plan, RunContext, open_run
from tasks.warehouse.errors import WarehouseBusy
from tasks.warehouse.locks import acquire_lock
from tasks.warehouse.store import Warehouse, open_warehouse

OptionsT = TypeVar("OptionsT", bound=FlowOptions)
HeldT = TypeVar("HeldT")
AsyncFlow = Flow[..., Coroutine[Any, Any, State[None]]]
RunName = str | Callable[[], str]
POLL_SECONDS = 0.5
LEASE_SECONDS = 240
"""When the slots of a killed run return."""
WAITING = "Waiting"
"""The state's name in the Prefect UI; its message names the owning process."""
warn = partial(print_message, style="yellow")


class WarehouseFlow(Flow[..., Coroutine[Any, Any, State[None]]], Generic[OptionsT]):
    """A flow over one warehouse that is open all the time, alone or as a part of another run."""

    def __init__(
        self,
        work: Callable[[RunContext, OptionsT], Awaitable[Outcome]],
        options: type[OptionsT],
        lock: str,
        **settings: Any,
    ) -> None:
        async def run_alone(**given: Any) -> State[None]:
            chosen = options.model_validate(given)
            async with await hold_slots(chosen):
                return await self._open_alone(chosen)

        self.options, self.work, self.lock = options, work, lock
        super().__init__(declare_parameters(run_alone, work, options), **settings)

    async def _open_alone(self, options: OptionsT) -> State[None]:
        with await hold_warehouse(options.warehouse) as store:
            plan = options.plan(store)
            await check_budget(plan, options)
            with open_terminal_run(plan, options.limit_usd, batch=options.uses_batches) as run:
                return await self._work_with(run, options)

    async def within(self, run: RunContext, options: OptionsT) -> Outcome:
        """Run it as a part of another run, with what that holds open; return its outcome."""
        part = run.begin_part(options.select(run.store), batch=options.uses_batches)
        return await read_outcome(await self.begin(part, options))

    async def begin(self, run: RunContext, options: OptionsT) -> State[Any]:
        """Run it in a context whose plan is of these options; return its state."""

        async def run_in_context(**_: Any) -> State[None]:
            return await self._work_with(run, options)

        begun: Any = Flow(
            declare_parameters(run_in_context, self.work, self.options),
            name=self.name, flow_run_name=self.flow_run_name, version=self.version,
        )  # fmt: skip
        shown = options.model_dump() | {"warehouse": run.store.url}
        state: State[Any] = await begun(**shown, return_state=True)
        return state

    async def _work_with(self, run: RunContext, options: OptionsT) -> State[None]:
        lock = self.lock.format_map(options.model_dump())
        with await hold_lock(run.store, lock):
            await tag_run(options)
            run.renew_if_shared()
            return to_state(await self.work(run, options))


def warehouse_flow(
    name: str, options: type[OptionsT], run_name: RunName, lock: str = ""
) -> Callable[[Callable[[RunContext, OptionsT], Awaitable[Outcome]]], WarehouseFlow[OptionsT]]:
    """Make a flow of a function of a run's context and the flow's options.

    lock: work that one process at a time may do in a lake, which no process owns as a whole, e.g.
        `reports of {edition}`, of the options' fields; empty for work that several may do at once.
    """
    settings = {"name": name, "flow_run_name": run_name, "version": version("evergreen-bench")}
    return lambda work: WarehouseFlow(work, options, lock, **settings)


def plain_flow(
    name: str, options: type[OptionsT], run_name: RunName
) -> Callable[[Callable[[OptionsT], Awaitable[Outcome]]], AsyncFlow]:
    """Make a flow of a function of its options that opens the warehouse itself: it closes it while
    a person decides."""

    def make(work: Callable[[OptionsT], Awaitable[Outcome]]) -> AsyncFlow:
        async def run(**given: Any) -> State[None]:
            chosen = options.model_validate(given)
            async with await hold_slots(chosen):
                return to_state(await work(chosen))

        return Flow(
            declare_parameters(run, work, options),
            name=name, flow_run_name=run_name, version=version("evergreen-bench"),
        )  # fmt: skip

    return make


def declare_parameters(
    function: Callable[..., Any], work: Callable[..., Any], options: type[FlowOptions]
) -> Callable[..., Any]:
    """Let Prefect, which reads names, signatures and docstrings, see `work` with the fields as its
    parameters; the warehouse comes last."""
    fields = sorted(options.model_fields.items(), key=lambda field: field[0] == "warehouse")
    made = inspect.signature(options).parameters

    async def run(**given: Any) -> Any:
        return await run_held(function(**given))

    shown: Any = wraps(work)(run)
    shown.__signature__ = inspect.Signature([made[name] for name, _ in fields])
    described = [f"    {name}: {' '.join((f.description or '').split())}" for name, f in fields]
    text, returns, rest = (inspect.getdoc(work) or "").partition("\n\nReturns:")
    shown.__doc__ = "\n".join([text, "", "Args:", *described]) + returns + rest
    return shown  # type: ignore[no-any-return]


def open_terminal_run(
    plan: Plan, budget_usd: float | None, *, batch: bool = False
) -> AbstractContextManager[RunContext]:
    """Open a run that prints its messages."""
    return open_run(plan, budget_usd, batch=batch, on_message=print_message, warn=warn)


async def hold_warehouse(warehouse: str) -> AbstractContextManager[Warehouse]:
    """Open the warehouse; return the context that closes it.

    While another process owns the file, the run's state is `Waiting` with that process in its
    message, and the run can be cancelled. A flow inside another shares the open warehouse.

    Raises:
        WarehouseError: it cannot be opened (see `tasks.warehouse.errors`).
    """
    context = FlowRunContext.get()
    # As the UI names it, since the command line of a served run tells nothing.
    activity = f"run {context.flow_run.name}" if context and context.flow_run else None
    with ExitStack() as stack:
        opened: list[Warehouse] = []

        async def take() -> str | None:
            try:
                opening = open_warehouse(warehouse, wait_seconds=0, activity=activity)
                opened.append(stack.enter_context(opening))
            except WarehouseBusy as busy:
                return busy.line
            return None

        await _wait_while_taken(take)
        return _close_later(stack.pop_all(), opened[0])


async def tag_run(options: FlowOptions, **more: str) -> None:
    """Tag this run with its edition, judge and agents, but not its tasks (see `run_task`).

    more: further tags, or what takes the place of an option that is not given.
    """
    given = options.model_dump(include={"edition", "judge"}, exclude_none=True) | more
    if "judge" in type(options).model_fields:
        given.setdefault("judge", load_judges().default)
    agents = getattr(options, "agents", None) or []
    names = [*(f"{k}:{v}" for k, v in given.items()), *(f"agent:{agent}" for agent in agents)]
    context = FlowRunContext.get()
    if context and context.flow_run:
        async with get_client() as client:
            known = {*context.flow_run.tags, *names}
            await client.update_flow_run(context.flow_run.id, tags=sorted(known))


async def hold_slots(options: FlowOptions) -> AsyncExitStack:
    """Wait until the providers that a run uses take one more run; return the context that makes
    room for the next one. The slots of a killed run return by themselves."""
    limits, stack = list_limits(options), AsyncExitStack()

    async def take() -> str | None:
        async with get_client() as client:
            for each in await client.read_global_concurrency_limits(limit=200):
                if each.name in limits and each.active_slots >= each.limit:
                    return f"{each.name} has no slot left ({each.limit}, by `runs_at_once`)"
        await stack.enter_async_context(concurrency(limits, lease_duration=LEASE_SECONDS))
        return None

    if limits:
        await _wait_while_taken(take)
    return stack


async def hold_lock(store: Warehouse, lock: str) -> AbstractContextManager[str]:
    """Wait for a lock as `hold_warehouse` does for a file; return the context that releases it.
    An empty lock is free."""

    async def take() -> str | None:
        if await acquire_lock(store.locks, lock):
            return None
        return f"{lock} is locked by {await asyncio.to_thread(store.locks.describe_holder, lock)}"

    with ExitStack() as stack:
        if lock:
            await _wait_while_taken(take)
            stack.callback(store.locks.release, lock)
        return _close_later(stack.pop_all(), lock)


async def _wait_while_taken(take: Callable[[], Awaitable[str | None]]) -> None:
    """Call `take` until it names no owner any more; meanwhile the run's state does."""
    waiting_for = ""
    while owner := await take():
        if owner != waiting_for:
            waiting_for = owner
            print_message(f"{waiting_for}; waiting for it to finish.")
            await _set_run_state(WAITING, waiting_for)
        await asyncio.sleep(POLL_SECONDS)
    if waiting_for:
        await _set_run_state("Running", "")


@contextmanager
def _close_later(stack: ExitStack, held: HeldT) -> Iterator[HeldT]:
    with stack:
        yield held


async def _set_run_state(name: str, message: str) -> None:
    """Set the name and message of this flow run's state; do nothing outside of a run."""
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        return
    async with get_client() as client:
        await client.set_flow_run_state(
            context.flow_run.id, Running(name=name, message=message), force=True
        )
