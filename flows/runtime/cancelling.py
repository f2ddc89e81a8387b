"""Ends the run of a command once somebody cancels it in the Prefect UI.

The command's own process looks for that, as nobody else would end it. `evergreen serve` ends the
processes of the runs that it has started.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar
from uuid import UUID

import httpx
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import StateType

from flows.display.console import print_message
from flows.runtime.outcomes import to_state
from tasks.outcome import Outcome

ResultT = TypeVar("ResultT")
POLL_SECONDS = 2.0
TRANSIENT_STATUSES = {408, 429}
"""Statuses worth a retry, in addition to all from 500 on."""
CANCELLED = "Cancelled in the Prefect UI. Committed work is kept; run again to resume."


async def run_until_cancelled(work: Coroutine[Any, Any, ResultT], run: UUID) -> ResultT | Any:
    """Do the work of a run; once somebody cancels the run, end it and return a cancelled state.

    Paid calls that are under way are still waited for.
    """
    working = asyncio.create_task(work)
    watching = asyncio.create_task(_wait_until_cancelled(run))
    try:
        await asyncio.wait({working, watching}, return_when="FIRST_COMPLETED")
        if working.done() or not watching.result():
            return await working
        print_message("Cancelled in the Prefect UI; waiting for what is under way.")
        return to_state(Outcome("cancelled", CANCELLED))
    finally:
        watching.cancel()
        working.cancel()
        await asyncio.wait({working, watching})


async def _wait_until_cancelled(run: UUID) -> bool:
    """Return whether the run was cancelled; False: it cannot be asked for any more, e.g. because
    somebody has deleted it. That ends no work, nor does any other error here."""
    with suppress(Exception):
        await wait_for_state(run, StateType.CANCELLING, StateType.CANCELLED)
        return True
    return False


async def wait_for_state(run: UUID, *types: StateType) -> None:
    """Return once the run has a state of one of these types; retry until the server answers.

    Raises:
        httpx.HTTPError: the server refuses to answer.
        PrefectException: there is no such run.
    """
    while True:
        await asyncio.sleep(POLL_SECONDS)
        async with get_client() as client:
            try:
                state = (await client.read_flow_run(run)).state
            except httpx.HTTPError as error:
                if not is_transient(error):
                    raise
            else:
                if state and state.type in types:
                    return


def is_transient(error: httpx.HTTPError) -> bool:
    """Whether a retry may help: the server is away or busy for a moment."""
    if isinstance(error, httpx.HTTPStatusError):
        status = error.response.status_code
        return status in TRANSIENT_STATUSES or status >= 500
    return isinstance(error, httpx.TransportError)
