"""Run a flow from the command line, with a Prefect server that stores its history."""

import asyncio
import gc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from flows.display.console import STDERR, print_always, print_message
from flows.registry import load_flow
from flows.runtime.settings import prefect_home
from tasks.agents.endings import list_coming_ends
from tasks.configuration.models import load_judges
from tasks.editions.refresh import load_refresh
from tasks.planning.options import FlowOptions
from tasks.run import Plan
from tasks.warehouse.rows import utc_now


def run_flow(
    name: str,
    options: FlowOptions,
    nothing_pending: str | None = None,
    plan: Plan | None = None,
) -> tuple[bool, str]:
    """Run a flow by its name and wait until its history is stored.

    Args:
        nothing_pending: the run's outcome if it would do nothing (see `FlowOptions.find_outcome`):
            then neither a server nor the flow is started.
        plan: what these options find pending in the warehouse, which is open; None: the flow opens
            it and makes one.

    Returns:
        Whether everything was done, and a message about how the run ended.

    Raises:
        Exception: the flow's error.
    """
    if nothing_pending is not None:
        return True, f"Nothing was pending: {nothing_pending}"
    warn_about_ends(options.model_dump())
    if not STDERR.is_terminal:  # a log shows no status line
        print_message("Starting the Prefect server …")
    with exit_when_interrupted(), start_server(flow=name) as api_url:
        complete, outcome = _run_and_store_history(api_url, name, options, plan)
    if STDERR.quiet and not complete:  # otherwise the caller prints it
        print_always(outcome, style="red")
    return complete, outcome


def warn_about_ends(parameters: dict[str, Any]) -> None:
    """Say which of the judges and agents that these parameters name, or take by default, end
    soon."""
    named = [*map(parameters.get, ("judge", "extractor")), *(parameters.get("agents") or ())]
    if "to_publish" in parameters:  # a month: what it does not name is in configs/refresh.yaml
        settings = load_refresh()
        named += [settings.judge, settings.extractor, *settings.agents]
    if "judge" in parameters:
        named.append(load_judges().default)
    for ending in list_coming_ends(named, utc_now().date()):
        print_message(ending, style="yellow")


@contextmanager
def start_server(port: int = 0, flow: str | None = None) -> Iterator[str]:
    """Do as `local_server`, with a status line until the server has started; meanwhile import a
    flow."""
    from flows.runtime.server import local_server  # slow: imports an HTTP client

    meanwhile = partial(load_flow, flow) if flow else lambda: None
    with ExitStack() as stack:
        with STDERR.status("Starting the Prefect server …"):
            api_url = stack.enter_context(local_server(prefect_home(), port, meanwhile))
        yield api_url


@contextmanager
def exit_when_interrupted() -> Iterator[None]:
    """Say that the work was interrupted, and exit with the code for that."""
    try:
        yield
    except KeyboardInterrupt:
        print_message("Interrupted. Committed work is kept; run again to resume.")
        raise SystemExit(130) from None
    except BaseException as error:
        if type(error).__name__ != "TerminationSignal":  # Prefect's; it may not be imported
            raise
        print_message("Terminated. Committed work is kept; run again to resume.")
        raise SystemExit(143) from None


def _run_and_store_history(
    api_url: str, name: str, options: FlowOptions, plan: Plan | None
) -> tuple[bool, str]:
    from flows.runtime.cancelling import CANCELLED
    from flows.runtime.history import wait_until_stored
    from flows.runtime.outcomes import read_outcome
    from flows.runtime.recovery import close_dead_runs
    from flows.runtime.task_runs import TASK_RUNS
    from flows.runtime.warehouse import open_terminal_run
    from flows.runtime.watched_runs import run_watched

    # Prefect's imports stay in memory; scanning them for garbage took 7 % of a run with many calls.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    asyncio.run(close_dead_runs(print_message))
    before = next(TASK_RUNS)
    flow = load_flow(name)
    if plan is None:
        state = run_watched(flow(**options.model_dump(), return_state=True))
    else:
        with open_terminal_run(plan, options.limit_usd, batch=options.uses_batches) as run:
            state = run_watched(flow.begin(run, options))
    started = next(TASK_RUNS) - before - 1
    with STDERR.status("Storing the run's history …"):
        wait_until_stored(api_url, state.state_details.flow_run_id, started)
    outcome = asyncio.run(read_outcome(state))
    if outcome.kind == "cancelled":
        print_always(CANCELLED)
        raise SystemExit(1)
    outcome.require()
    return outcome.is_complete, f"{outcome.name}: {outcome.message}"
