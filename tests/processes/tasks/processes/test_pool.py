"""Helper processes: results come back, crashes are named, nothing outlives its parent."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.processes.answers import HelperFailed
from tasks.processes.helper import HelperCrashed, LimitExceeded
from tasks.processes.pool import HelperProcesses
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def helpers() -> Iterator[HelperProcesses]:
    pool = HelperProcesses(workers=1)
    yield pool
    pool.close()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def get_pid() -> int:
    return os.getpid()


def parse(text: str) -> int:
    return int(text)


def test_a_helper_computes_elsewhere(helpers: HelperProcesses) -> None:
    assert asyncio.run(helpers.run(get_pid)) != os.getpid()


def test_an_error_that_is_expected_of_a_helper_comes_through_as_it_is(
    helpers: HelperProcesses,
) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        asyncio.run(helpers.run(parse, "many", raises=(ValueError,)))


def test_any_other_error_in_a_helper_says_what_it_was_and_costs_no_helper(
    helpers: HelperProcesses,
) -> None:
    before = asyncio.run(helpers.run(get_pid))
    with pytest.raises(HelperFailed, match=r"ValueError: invalid literal.*test_pool.py, line"):
        asyncio.run(helpers.run(parse, "many"))
    assert asyncio.run(helpers.run(get_pid)) == before


def sleep_long() -> None:
    time.sleep(60)


def test_a_call_that_takes_too_long_is_ended_and_the_next_call_works(
    helpers: HelperProcesses,
) -> None:
    with pytest.raises(LimitExceeded, match=r"^took more than 0.5 seconds"):
        asyncio.run(helpers.run(sleep_long, seconds=0.5))
    assert asyncio.run(helpers.run(parse, "1")) == 1


def test_who_waits_when_the_pool_is_closed_is_cancelled(helpers: HelperProcesses) -> None:
    async def closed() -> None:
        waiting = [asyncio.ensure_future(helpers.run(sleep_long)) for _ in range(3)]
        await asyncio.sleep(0.3)
        helpers.close()
        said = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(each) for each in said] == [asyncio.CancelledError] * 3

    asyncio.run(closed())


def test_a_helper_is_replaced_after_its_calls() -> None:
    pool = HelperProcesses(workers=1, calls_per_helper=2)
    pids = [asyncio.run(pool.run(get_pid)) for _ in range(4)]
    pool.close()
    assert pids[0] == pids[1] != pids[2] == pids[3]


def test_a_killed_helper_is_a_named_error_and_the_next_call_works(
    helpers: HelperProcesses,
) -> None:
    with pytest.raises(HelperCrashed):
        asyncio.run(helpers.run(die))
    assert asyncio.run(helpers.run(parse, "1")) == 1


def test_helpers_end_when_their_parent_is_killed_hard() -> None:
    program = textwrap.dedent("""
        import asyncio, os, signal
        from tasks.processes.pool import HelperProcesses
        from tests.processes.tasks.processes.test_pool import get_pid
        if __name__ == "__main__":
            print(asyncio.run(HelperProcesses(workers=1).run(get_pid)), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
    """)
    parent = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    helper = int(parent.stdout)
    until("end of the helper", lambda: not alive(helper), pause=0.05)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
