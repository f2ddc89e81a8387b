"""A person decides: a run shows something, waits for an answer in the Prefect UI, and goes on.

Nothing is held meanwhile. A run that was started from the command line waits in its own process
(Prefect's pause; the server stays up as long as it waits). A run of a deployment ends here
(Prefect's suspension), and the answer has it scheduled again: it comes by once more and gets the
answer, so other runs are not held up by it.
"""

import asyncio
import os
from contextlib import suppress
from math import ceil
from typing import Any
from uuid import uuid4

import httpx
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.objects import State
from prefect.context import get_run_context
from prefect.exceptions import FlowPauseTimeout
from prefect.flow_runs import apause_flow_run, asuspend_flow_run
from prefect.input import RunInput
from prefect.input.run_input import keyset_from_base_key
from pydantic import Field

POLL_SECONDS = 2
SPARE_SECONDS = 3600
"""Prefect calls a pause expired so much later than we do: an expired run could only fail."""
PASSING = {408, 429}
"""Answers of a server that may be another one in a moment, as all from 500 on may."""


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
        Exception: whether it was cannot be asked any more, e.g. as the run is deleted.
    """
    if _run().deployment_id:
        return await asuspend_flow_run(wait_for_input=Decision, timeout=ceil(seconds), key=shown)
    answered = asyncio.ensure_future(_answered(seconds))
    called_off = asyncio.ensure_future(_called_off())
    try:
        await asyncio.wait({answered, called_off}, timeout=seconds, return_when="FIRST_COMPLETED")
        if called_off.done():
            called_off.result()  # raises what it failed with: that is no cancellation
            raise CalledOff("The run was cancelled while it waited; nothing was written.")
        with suppress(FlowPauseTimeout):
            return answered.result() if answered.done() else None
        return None
    finally:
        answered.cancel()
        called_off.cancel()


async def _answered(seconds: float) -> Decision | None:
    """What a person says. Prefect's pause gives up on a server that is away for a minute: from then
    on we ask ourselves."""
    key = uuid4().hex
    timeout = ceil(seconds) + SPARE_SECONDS
    try:
        return await apause_flow_run(
            wait_for_input=Decision, timeout=timeout, poll_interval=POLL_SECONDS, key=key
        )
    except httpx.HTTPError as error:
        if not _passes(error):
            raise
    async with get_client() as client:
        while not (await _state(client)).is_running():
            pass
        return await Decision.aload(keyset_from_base_key(f"paused-{key}"))


async def _called_off() -> None:
    """Returns when somebody cancels the run: Prefect's pause itself does not look for that."""
    async with get_client() as client:
        state = await _state(client)
        while not (state.is_cancelling() or state.is_cancelled()):
            state = await _state(client)


async def _state(client: PrefectClient) -> State[Any]:
    """The run's state in a moment, or as soon as the server says it."""
    while True:
        await asyncio.sleep(POLL_SECONDS)
        try:
            found = (await client.read_flow_run(_run().id)).state
        except httpx.HTTPError as error:
            if not _passes(error):
                raise
        else:
            if found is not None:
                return found


def _passes(error: httpx.HTTPError) -> bool:
    """Whether asking again may help: the server is away or busy for a moment."""
    if isinstance(error, httpx.HTTPStatusError):
        status = error.response.status_code
        return status in PASSING or status >= 500
    return isinstance(error, httpx.TransportError)


def run_page() -> str:
    """The address of this run's page in the UI."""
    ui = os.environ.get("PREFECT_API_URL", "").removesuffix("/").removesuffix("/api")
    return f"{ui}/runs/flow-run/{_run().id}"


def _run() -> Any:
    context: Any = get_run_context()
    return context.flow_run
