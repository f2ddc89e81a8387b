"""Helpers that are no processes: starting one takes longer than what most tests have it do.

What a process of its own is for (limits, crashes, our keys) is not to be seen with these.
"""

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

import pytest

from tasks.processes import helper, pool
from tasks.processes.answers import decode_answer, encode_error, encode_value


@pytest.fixture(scope="module", autouse=True)
def helpers() -> Iterator[None]:
    """What helpers are asked is computed here, unless a module has a fixture of this name."""
    with no_helpers():
        yield


@contextmanager
def no_helpers() -> Iterator[None]:
    """Within the block this process computes what helpers are asked."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (pool, helper):
            patch.setattr(module, "Helper", _InThisProcess)
        yield


class _InThisProcess:
    """Calls a function with a copy of its arguments, and gives a copy of its answer."""

    is_usable = True
    _lock = Lock()
    """One call at a time: libraries that never share a process may not be made for threads."""

    def __init__(self, megabytes: int | None = None) -> None:
        self.n_calls = 0

    def call(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        seconds: float | None = None,
        raises: Sequence[type[Exception]] = (),
    ) -> Any:
        self.n_calls += 1
        copied = pickle.loads(pickle.dumps(arguments))
        try:
            with self._lock:
                answer = encode_value(function, function(*copied))
        except Exception as error:
            answer = encode_error(error)
        return decode_answer(function, answer, raises)

    def kill(self) -> None: ...

    def end(self) -> None: ...
