"""Running a flow from the command line: with a Prefect server at hand, its history kept."""

import asyncio
import gc
from collections.abc import Callable
from typing import Any

from flows.display.console import REMARKS, insist, remark
from flows.registry import flow_named
from flows.runtime.settings import prefect_home


def run_flow(
    name: str, parameters: dict[str, Any], nothing_pending: str | None = None
) -> tuple[bool, str]:
    """Run a flow by its name and wait until its history is stored.

    Args:
        nothing_pending: how the run would end where it would do nothing (see
            `tasks.planning.outcomes`): then no server is started and nothing is run.

    Returns:
        Whether everything was done, and how the run ended, in words.

    Raises:
        What the flow failed with.
    """
    if nothing_pending is not None:
        return True, f"Nothing was pending: {nothing_pending}"
    from flows.runtime.server import local_server  # with an HTTP client, which no help needs

    if not REMARKS.is_terminal:  # where no status can be shown
        remark("Starting the Prefect server …")
    with REMARKS.status("Starting the Prefect server …"):
        server = local_server(prefect_home())
        api_url = server.__enter__()
    try:
        complete, outcome = _run(api_url, flow_named(name), parameters)
    finally:
        server.__exit__(None, None, None)
    if REMARKS.quiet and not complete:  # a remark where there are any
        insist(outcome, style="red")
    return complete, outcome


def _run(api_url: str, flow: Callable[..., Any], parameters: dict[str, Any]) -> tuple[bool, str]:
    from prefect.exceptions import TerminationSignal

    from flows.runtime.history import wait_until_stored
    from flows.runtime.task_runs import TASK_RUNS

    # What Prefect has imported stays for good: looking through it for garbage again and again
    # took 7 % of a run with many calls.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    before = next(TASK_RUNS)
    try:
        state = asyncio.run(flow(**parameters, return_state=True))
    except KeyboardInterrupt:
        remark("Stopped. What was committed is kept; run again to go on.")
        raise SystemExit(130) from None
    except TerminationSignal:
        remark("Ended from outside. What was committed is kept; run again to go on.")
        raise SystemExit(143) from None
    started = next(TASK_RUNS) - before - 1
    with REMARKS.status("Storing the run's history …"):
        wait_until_stored(api_url, state.state_details.flow_run_id, started)
    if state.is_cancelled():
        insist("Cancelled in the Prefect UI. What was committed is kept; run again to go on.")
        raise SystemExit(1)
    if not state.is_completed():
        error = asyncio.run(_error(state))
        raise error if isinstance(error, Exception) else RuntimeError(str(state.message))
    return state.name == "Completed", f"{state.name}: {state.message}"


async def _error(state: Any) -> object:
    return await state.aresult(raise_on_failure=False)
