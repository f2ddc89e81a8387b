"""The slot of a killed run returns by itself."""

import subprocess
import sys

import pytest

from tests.processes.flows.runtime.test_slots import one_at_a_time, slots
from tests.waiting import until

__all__ = ["one_at_a_time"]
DEAD = """
import asyncio, os, signal
from prefect.concurrency.asyncio import concurrency
async def die():
    async with concurrency("evergreen-gemini", lease_duration=60):
        os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(die())
"""


@pytest.mark.usefixtures("one_at_a_time")
def test_the_slot_of_a_killed_process_returns(api: str) -> None:
    subprocess.run([sys.executable, "-c", DEAD], check=False)
    assert slots(api)["evergreen-gemini"] == 1
    until("slot", lambda: slots(api)["evergreen-gemini"] == 0)
