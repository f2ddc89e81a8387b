"""Calls in a process of their own, with limits on time and memory.

Files from strangers may compute for ever or fill the memory: then only this process ends. It does
not get our environment variables, so it has no keys.
"""

import os
import pickle
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")

_CHILD = "from tasks.processes.bounded import serve; serve()"
_INHERITED = ("LD_LIBRARY_PATH", "LANG", "LC_ALL", "TMPDIR")
"""The only environment variables that are passed on: Python may need them to start."""


class LimitExceeded(Exception):
    """The call took too much time or memory, or its process died; the message says which."""


def run_bounded(
    function: Callable[..., ResultT], *arguments: Any, seconds: float, megabytes: int
) -> ResultT:
    """Call `function(*arguments)` in a new process; both must be picklable.

    Args:
        seconds: limit on the elapsed time and on the processor time.
        megabytes: limit on the address space.

    Raises:
        LimitExceeded: too much time or memory, or the process died.
        Exception: whatever the function raises.
    """
    with subprocess.Popen(
        [sys.executable, "-P", "-c", _CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_child_environment(),
        start_new_session=True,  # on Ctrl-C we end it ourselves
    ) as process:
        try:
            output, _ = process.communicate(
                pickle.dumps((seconds, megabytes)) + pickle.dumps((function, arguments)), seconds
            )
        except subprocess.TimeoutExpired:
            raise LimitExceeded(f"reading it took more than {seconds:g} seconds") from None
        finally:
            process.kill()
    if not output:
        raise LimitExceeded(_describe_exit(process.returncode, seconds, megabytes))
    succeeded, outcome = pickle.loads(output)
    if not succeeded:
        if isinstance(outcome, MemoryError):
            raise LimitExceeded(f"reading it took more than {megabytes:,} MB of memory")
        raise outcome
    result: ResultT = outcome
    return result


def serve() -> None:
    """Read a call from stdin, run it, and write its outcome to stdout; runs in the new process."""
    seconds, megabytes = pickle.load(sys.stdin.buffer)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing else may write to the outcome
    # Processor time is limited too, so that this process ends even if its parent is killed.
    whole = max(1, round(seconds))
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 1))
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        function, arguments = pickle.load(sys.stdin.buffer)
        outcome = (True, function(*arguments))
    except MemoryError:
        outcome = (False, MemoryError())
    except Exception as error:
        outcome = (False, error)
    answers.write(pickle.dumps(outcome))
    answers.close()


def _child_environment() -> dict[str, str]:
    """Return the process's environment: the module path and what Python needs to start."""
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {**inherited, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def _describe_exit(exit_code: int, seconds: float, megabytes: int) -> str:
    if exit_code == -signal.SIGXCPU:
        return f"reading it took more than {seconds:g} seconds"
    if exit_code < 0:
        return (
            f"reading it ended in {signal.Signals(-exit_code).name}, perhaps for more than "
            f"{megabytes:,} MB of memory"
        )
    return "reading it broke the process that read it"
