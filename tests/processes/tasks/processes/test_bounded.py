"""A call in a process of its own ends in time, in its memory, and without our secrets."""

import os
import signal
import time

import pytest

from tasks.processes.answers import HelperFailed
from tasks.processes.helper import LimitExceeded, run_bounded


def double(number: int) -> int:
    print("noise on standard output")
    return 2 * number


def fail() -> None:
    raise KeyError("what was wrong")


def sleep_long() -> None:
    time.sleep(60)


def compute_long() -> None:
    while True:
        pass


def fill_memory() -> int:
    return len(bytearray(800_000_000))


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def look_around() -> dict[str, str]:
    return dict(os.environ)


def call(function: object, *arguments: object, seconds: float = 30, megabytes: int = 600) -> object:
    return run_bounded(function, *arguments, seconds=seconds, megabytes=megabytes)  # type: ignore[arg-type]


def test_what_the_call_returns_and_raises_comes_through() -> None:
    assert call(double, 21) == 42
    with pytest.raises(HelperFailed, match=r"KeyError: 'what was wrong' .test_bounded.py, line "):
        call(fail)
    with pytest.raises(KeyError, match="what was wrong"):
        run_bounded(fail, seconds=30, megabytes=600, raises=(KeyError,))


@pytest.mark.parametrize("function", [sleep_long, compute_long])
def test_a_call_that_does_not_end_is_ended(function: object) -> None:
    begun = time.monotonic()
    with pytest.raises(LimitExceeded, match="more than 1 seconds"):
        call(function, seconds=1)
    assert time.monotonic() - begun < 20


def test_a_call_that_fills_the_memory_is_ended() -> None:
    with pytest.raises(LimitExceeded, match="more than 600 MB of memory"):
        call(fill_memory)


def test_a_process_that_dies_is_told() -> None:
    with pytest.raises(LimitExceeded, match="SIGKILL"):
        call(die)


def test_the_process_inherits_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    seen = call(look_around)
    assert isinstance(seen, dict)
    assert "OPENAI_API_KEY" not in seen
