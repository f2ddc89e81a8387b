"""Manual approval: a run waits for a person's decision in the Prefect UI.

The run holds no lock while it waits. A run started from the command line waits in its own process
(Prefect's pause; the server stays up meanwhile). A run of a deployment ends (Prefect's suspension)
and is scheduled again by the answer, so it takes no slot from other runs.
"""

import asyncio
import os
from contextlib import suppress
from math import ceil
from typing import Any
from uuid import uuid4

import httpx
from prefect.client.schemas.objects import StateType
from prefect.context import get_run_context
from prefect.exceptions import FlowPauseTimeout
from prefect.flow_runs import apause_flow_run, asuspend_flow_run
from prefect.input import RunInput
from prefect.input.run_input import keyset_from_base_key
from pydantic import Field

from flows.runtime.cancelling import is_transient, wait_for_state

POLL_SECONDS = 2
EXTRA_PAUSE_SECONDS = 3600
"""Added to Prefect's own timeout, so that ours comes first: a run that Prefect expires fails."""


class PublishDecision(RunInput):
    """The form in which a person approves or declines publication."""

    publish: bool = Field(description="On: publish it. Off: write nothing and end the run.")
    note: str = Field(default="", description="Why, in your words; it is kept with the run.")


async def wait_for_decision(digest: str, seconds: float) -> PublishDecision | None:
    """Wait for a person's decision; return None if nobody decides in time.

    Args:
        digest: identifies what is to be approved. A run of a deployment asks once per digest.
        seconds: how long to wait. A run of a deployment without an answer stays suspended.

    Raises:
        Exception: the run's state cannot be read any more, e.g. because the run was deleted.
    """
    if _get_current_run().deployment_id:
        return await asuspend_flow_run(
            wait_for_input=PublishDecision, timeout=ceil(seconds), key=digest
        )
    with suppress(TimeoutError, FlowPauseTimeout):
        return await asyncio.wait_for(_wait_for_answer(seconds), seconds)
    return None


async def _wait_for_answer(seconds: float) -> PublishDecision | None:
    """Return the person's answer. Prefect's pause gives up on a server that is away for a minute;
    from then on this polls the server itself."""
    key = uuid4().hex
    timeout = ceil(seconds) + EXTRA_PAUSE_SECONDS
    try:
        return await apause_flow_run(
            wait_for_input=PublishDecision, timeout=timeout, poll_interval=POLL_SECONDS, key=key
        )
    except httpx.HTTPError as error:
        if not is_transient(error):
            raise
    await wait_for_state(_get_current_run().id, StateType.RUNNING)
    return await PublishDecision.aload(keyset_from_base_key(f"paused-{key}"))


def get_run_url() -> str:
    """Return the URL of this run's page in the Prefect UI."""
    return f"{find_ui_url()}/runs/flow-run/{_get_current_run().id}"


def find_ui_url() -> str:
    """Return the URL of the Prefect UI."""
    api = os.environ.get("PREFECT_API_URL", "").removesuffix("/").removesuffix("/api")
    return os.environ.get("PREFECT_UI_URL", api).removesuffix("/")


def _get_current_run() -> Any:
    context: Any = get_run_context()
    return context.flow_run
