"""Helper processes: results come back, crashes are named, nothing outlives its parent."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator

import pytest

from tasks.processes.pool import HelperCrashed, HelperProcesses


@pytest.fixture
def helpers() -> Iterator[HelperProcesses]:
    pool = HelperProcesses(workers=1)
    yield pool
    pool.close()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_helper_computes_elsewhere(helpers: HelperProcesses) -> None:
    assert asyncio.run(helpers.run(os.getpid)) != os.getpid()


def test_an_error_in_a_helper_comes_through_as_it_is(helpers: HelperProcesses) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        asyncio.run(helpers.run(int, "many"))


def test_a_killed_helper_is_a_named_error_and_the_next_call_works(
    helpers: HelperProcesses,
) -> None:
    with pytest.raises(HelperCrashed):
        asyncio.run(helpers.run(die))
    assert asyncio.run(helpers.run(abs, -1)) == 1


def test_helpers_end_when_their_parent_is_killed_hard() -> None:
    program = textwrap.dedent("""
        import asyncio, os, signal
        from tasks.processes.pool import HelperProcesses
        if __name__ == "__main__":
            print(asyncio.run(HelperProcesses(workers=1).run(os.getpid)), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
    """)
    parent = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    helper = int(parent.stdout)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and alive(helper):
        time.sleep(0.05)
    assert not alive(helper)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
