"""The helper's side: read calls from standard input, and write their answers where it was told.

The calls are pickles, since they come from us; the answers are not (see `answers`).
"""

import os
import pickle
import resource
import select
import signal
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple

from tasks.processes.answers import encode_error, encode_value
from tasks.processes.dumpable import forbid_dumps

LENGTH = struct.Struct(">Q")
"""Stands before each call and each answer."""
LOADED = b"+"
"""Says that a helper has started, and imported what a call needs: its time begins."""
GRACE_SECONDS = 10.0
"""The parent ends a helper after its time limit; the helper's own alarm does so this much later, in
case the parent is gone."""


class HelperCall(NamedTuple):
    """A call as it is sent to a helper."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    seconds: float | None


def serve(megabytes: int | None) -> None:
    """Answer calls until the parent closes the pipe or ends; runs in the helper.

    Args:
        megabytes: limit on the address space.
    """
    forbid_dumps()
    if megabytes is not None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    calls, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)  # what a library prints is no answer
    threading.Thread(target=_exit_with_parent, args=(calls.fileno(),), daemon=True).start()
    while length := calls.read(LENGTH.size):
        answer = _answer(calls.read(LENGTH.unpack(length)[0]), answers)
        answers.write(LENGTH.pack(len(answer)))
        answers.write(answer)
        answers.flush()


def _answer(request: bytes, answers: BinaryIO) -> bytes:
    try:
        try:
            call: HelperCall = pickle.loads(request)  # from our parent alone
        finally:
            answers.write(LOADED)  # the call's time begins
            answers.flush()
        del request
        with _alarm(call.seconds):
            return encode_value(call.function, call.function(*call.arguments))
    except Exception as error:
        return encode_error(error)


@contextmanager
def _alarm(seconds: float | None) -> Iterator[None]:
    """Let the kernel end this process after a time, even inside a library call."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds + GRACE_SECONDS if seconds else 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _exit_with_parent(calls: int) -> None:
    """End when the parent, which alone writes to the pipe, has closed it, also during a call."""
    parent = select.poll()
    parent.register(calls, 0)  # waits for its end only
    parent.poll()
    os._exit(0)
