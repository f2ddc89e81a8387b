"""A person decides: a run shows something, waits for an answer in the Prefect UI, and goes on.

Nothing is held meanwhile. A run that was started from the command line waits in its own process
(Prefect's pause; the server stays up as long as it waits). A run of a deployment ends here
(Prefect's suspension), and the answer has it scheduled again: it comes by once more and gets the
answer, so other runs are not held up by it.
"""

import asyncio
import os
from contextlib import suppress
from typing import Any

from prefect.client.orchestration import get_client
from prefect.context import get_run_context
from prefect.exceptions import FlowPauseTimeout
from prefect.flow_runs import apause_flow_run, asuspend_flow_run
from prefect.input import RunInput
from pydantic import Field

POLL_SECONDS = 2
SPARE_SECONDS = 3600
"""Prefect calls a pause expired so much later than we do: an expired run could only fail."""


class CalledOff(Exception):
    """Somebody cancelled the run while it waited."""


class Decision(RunInput):
    """What a person says to what would be published."""

    publish: bool = Field(description="On: publish it. Off: write nothing and end the run.")
    note: str = Field(default="", description="Why, in your words; it is kept with the run.")


async def decided(shown: str, seconds: float) -> Decision | None:
    """Wait for a person's decision; None: nobody has decided in time.

    Args:
        shown: a digest of what they decide about. A run of a deployment asks once about each.
        seconds: how long to wait. A run of a deployment that nobody answers stays suspended.

    Raises:
        CalledOff: the run was cancelled; nobody else would end it.
    """
    if _run().deployment_id:
        return await asuspend_flow_run(wait_for_input=Decision, timeout=int(seconds), key=shown)
    paused = asyncio.ensure_future(
        apause_flow_run(
            wait_for_input=Decision,
            timeout=int(seconds) + SPARE_SECONDS,
            poll_interval=POLL_SECONDS,
        )
    )
    called_off = asyncio.ensure_future(_called_off())
    try:
        await asyncio.wait({paused, called_off}, timeout=seconds, return_when="FIRST_COMPLETED")
        if called_off.done():
            raise CalledOff("The run was cancelled while it waited; nothing was written.")
        with suppress(FlowPauseTimeout):
            return paused.result() if paused.done() else None
        return None
    finally:
        paused.cancel()
        called_off.cancel()


async def _called_off() -> None:
    """Returns when somebody cancels the run: Prefect's pause itself does not look for that."""
    run_id = _run().id
    async with get_client() as client:
        while True:
            await asyncio.sleep(POLL_SECONDS)
            state = (await client.read_flow_run(run_id)).state
            if state is not None and (state.is_cancelling() or state.is_cancelled()):
                return


def run_page() -> str:
    """The address of this run's page in the UI."""
    ui = os.environ.get("PREFECT_API_URL", "").removesuffix("/").removesuffix("/api")
    return f"{ui}/runs/flow-run/{_run().id}"


def _run() -> Any:
    context: Any = get_run_context()
    return context.flow_run
