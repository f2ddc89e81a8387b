"""Waiting for what other processes do: a busy machine is slow, but no test waits forever."""

import subprocess
import time
from collections.abc import Callable
from typing import TypeVar

import pytest

SECONDS = 300
"""For anything to happen: beside other tests the Prefect server alone takes a minute to start."""

Found = TypeVar("Found")


def until(
    what: str,
    found: Callable[[], Found | None],
    *,
    seconds: float = SECONDS,
    pause: float = 0.5,
    process: subprocess.Popen[str] | None = None,
    detail: Callable[[], str] = str,
) -> Found:
    """What `found` gives, once it gives anything; fails when `process` has ended before.

    When it takes too long, the failure shows what `detail` gives and what the process said.
    """
    deadline = time.monotonic() + seconds
    while not (value := found()):
        if process and process.poll() is not None:
            pytest.fail(f"no {what}, and the process has ended\n{_said(process)}")
        if time.monotonic() > deadline:
            said = _said(process) if process else ""
            pytest.fail(f"there is still no {what}\n{detail()}{said}")
        time.sleep(pause)
    return value


def _said(process: subprocess.Popen[str]) -> str:
    """All that a process printed; it is killed, since otherwise this would wait for its end."""
    process.kill()
    try:
        return process.communicate(timeout=10)[0]
    except subprocess.TimeoutExpired as error:  # a process that it started holds its output open
        return (error.output or b"").decode()
