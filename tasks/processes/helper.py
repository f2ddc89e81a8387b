"""A helper process, and calls to it: with limits on time and memory, and without our keys.

The helper (`serve`) reads calls from standard input, and writes their answers where it was told.
The calls are pickles, since they come from us; the answers are not (see `answers`).
"""

import os
import pickle
import resource
import select
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Timer
from typing import Any, BinaryIO, NamedTuple, TypeVar

from tasks.processes.answers import InvalidAnswer, decode_answer, encode_error, encode_value
from tasks.processes.dumpable import forbid_dumps

ResultT = TypeVar("ResultT")

PROGRAM = "from tasks.processes.helper import serve; serve({megabytes!r})"
INHERITED = (
    "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TMPDIR", "TZ", "PATH", "EVERGREEN_CONFIGS",
    "EVERGREEN_RUBRICS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS",
)  # fmt: skip
"""The only environment variables that are passed on; none of them holds a key."""
START_SECONDS = 60.0
"""Limit on starting a helper and loading a call; no part of the call's own limit."""
MAX_ANSWER_BYTES = 256 << 20
"""The largest file that may be read, with its pictures, answers with some 170 MB."""
LENGTH = struct.Struct(">Q")
"""Stands before each call and each answer."""
LOADED = b"+"
"""Says that a helper has started, and imported what a call needs: its time begins."""
GRACE_SECONDS = 10.0
"""The parent ends a helper after its time limit; the helper's own alarm does so this much later, in
case the parent is gone."""


class LimitExceeded(Exception):
    """A call took too much time or memory; the message says which, as in `took more than 5 s`."""


class HelperCrashed(Exception):
    """A helper process died or broke during a call; a retry may succeed."""


class Helper:
    """One process, for one call at a time. Unless a call returns or raises what its function did,
    the process is ended.

    Args:
        megabytes: limit on its address space.
    """

    def __init__(self, megabytes: int | None = None) -> None:
        self._megabytes = megabytes
        inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
        modules = os.pathsep.join(filter(None, sys.path))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", PROGRAM.format(megabytes=megabytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**inherited, "PYTHONPATH": modules},
            start_new_session=True,  # neither Ctrl-C nor our terminal reaches it
        )
        self.is_usable = True
        self.n_calls = 0

    def call(
        self,
        function: Callable[..., ResultT],
        *arguments: Any,
        seconds: float | None = None,
        raises: Sequence[type[Exception]] = (),
    ) -> ResultT:
        """Call `function(*arguments)`; both must be picklable, and `function` declares its result.

        Args:
            seconds: limit on the elapsed time.
            raises: the function's own errors that the caller expects.

        Raises:
            LimitExceeded: too much time or memory.
            HelperCrashed: the process died, or answered with what the function cannot return.
            HelperFailed: the function raised an error that is not in `raises`.
        """
        request = pickle.dumps(HelperCall(function, arguments, seconds))
        self.n_calls += 1
        try:
            late = HelperCrashed(f"found no helper process within {START_SECONDS:g} seconds")
            with self._limit(START_SECONDS, late):
                self._send(request)
            with self._limit(seconds, LimitExceeded(f"took more than {seconds or 0:g} seconds")):
                answer = self._receive()
            result: ResultT = decode_answer(function, answer, raises)
        except (EOFError, BrokenPipeError):
            self.end()
            raise HelperCrashed(self._describe_exit()) from None
        except MemoryError:
            self.end()
            raise LimitExceeded(self._describe_memory()) from None
        except InvalidAnswer as error:
            self.end()
            raise HelperCrashed(f"broke its helper process, which {error}") from error
        return result

    def kill(self) -> None:
        """Kill the process; who waits for its answer learns it."""
        self.is_usable = False
        self._process.kill()

    def end(self) -> None:
        """Kill the process and leave nothing of it; for the thread that calls it."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):  # what was not yet written has no reader any more
                    pipe.close()

    @contextmanager
    def _limit(self, seconds: float | None, error: Exception) -> Iterator[None]:
        """Kill the process and raise `error` if the block takes longer."""
        if seconds is None:
            yield
            return
        is_late = Event()

        def expire() -> None:
            is_late.set()
            self.kill()

        timer = Timer(seconds, expire)
        timer.daemon = True
        timer.start()
        try:
            yield
        except (EOFError, BrokenPipeError):
            if not is_late.is_set():
                raise
            self.end()
            raise error from None
        finally:
            timer.cancel()

    def _send(self, request: bytes) -> None:
        """Send a call and wait until the helper has loaded it."""
        calls, answers = self._process.stdin, self._process.stdout
        assert calls is not None
        assert answers is not None
        calls.write(LENGTH.pack(len(request)))
        calls.write(request)
        calls.flush()
        if answers.read(1) != LOADED:
            raise EOFError

    def _receive(self) -> bytes:
        answers = self._process.stdout
        assert answers is not None
        length = answers.read(LENGTH.size)
        if len(length) < LENGTH.size:
            raise EOFError
        n_bytes = LENGTH.unpack(length)[0]
        if n_bytes > MAX_ANSWER_BYTES:
            raise InvalidAnswer(f"answered with more than {MAX_ANSWER_BYTES:,} bytes")
        answer = answers.read(n_bytes)
        if len(answer) < n_bytes:
            raise EOFError
        return answer

    def _describe_memory(self) -> str:
        if self._megabytes is None:
            return "took more memory than there is"
        return f"took more than {self._megabytes:,} MB of memory"

    def _describe_exit(self) -> str:
        code = self._process.returncode
        if code >= 0:
            return "broke its helper process"
        more = "too much" if self._megabytes is None else f"more than {self._megabytes:,} MB of"
        return f"ended in {signal.Signals(-code).name}, perhaps for {more} memory"


def run_bounded(
    function: Callable[..., ResultT],
    *arguments: Any,
    seconds: float,
    megabytes: int,
    raises: Sequence[type[Exception]] = (),
) -> ResultT:
    """Call `function(*arguments)` in a new process; see `Helper.call`. Files from strangers may
    compute for ever or fill the memory: then only this process ends.

    Args:
        seconds: limit on the elapsed time.
        megabytes: limit on the address space.
        raises: the function's own errors that the caller expects.

    Raises:
        LimitExceeded: too much time or memory, or the process died.
        HelperFailed: the function raised an error that is not in `raises`.
    """
    helper = Helper(megabytes)
    try:
        return helper.call(function, *arguments, seconds=seconds, raises=raises)
    except HelperCrashed as error:
        raise LimitExceeded(str(error)) from error
    finally:
        helper.end()


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
