"""One call in a process of its own, with a bound of time and one of memory.

For work on what strangers made: a file that would compute for ever or fill the memory costs its
own process, not ours. The process knows nothing of our environment, so no keys.
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
_HANDED_ON = ("LD_LIBRARY_PATH", "LANG", "LC_ALL", "TMPDIR")
"""Variables that a Python may need to start; all others stay here."""


class Exceeded(Exception):
    """The call took more than it may, or its process died; says which in words."""


def run_bounded(
    function: Callable[..., ResultT], *arguments: Any, seconds: float, megabytes: int
) -> ResultT:
    """`function(*arguments)` in a fresh process; both must be picklable.

    seconds: of the clock, and as much of computing. megabytes: of address space.

    Raises:
        Exceeded: too long, too much memory, or the process died. What the function raises comes
            through as it is.
    """
    with subprocess.Popen(
        [sys.executable, "-P", "-c", _CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(),
        start_new_session=True,  # Ctrl-C is for us: we then end it
    ) as process:
        try:
            said, _ = process.communicate(
                pickle.dumps((seconds, megabytes)) + pickle.dumps((function, arguments)), seconds
            )
        except subprocess.TimeoutExpired:
            raise Exceeded(f"reading it took more than {seconds:g} seconds") from None
        finally:
            process.kill()
    if not said:
        raise Exceeded(_last_words(process.returncode, seconds, megabytes))
    worked, outcome = pickle.loads(said)
    if not worked:
        if isinstance(outcome, MemoryError):
            raise Exceeded(f"reading it took more than {megabytes:,} MB of memory")
        raise outcome
    result: ResultT = outcome
    return result


def serve() -> None:
    """What the process does: read the call, do it, write the outcome."""
    seconds, megabytes = pickle.load(sys.stdin.buffer)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing else may write between the answers
    # Computing is bounded too: should our parent be killed, this process still ends.
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


def _environment() -> dict[str, str]:
    """What the process is told: where modules lie, and no more than it needs to start."""
    handed_on = {name: os.environ[name] for name in _HANDED_ON if name in os.environ}
    return {**handed_on, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def _last_words(exit_code: int, seconds: float, megabytes: int) -> str:
    if exit_code == -signal.SIGXCPU:
        return f"reading it took more than {seconds:g} seconds"
    if exit_code < 0:
        return (
            f"reading it ended in {signal.Signals(-exit_code).name}, perhaps for more than "
            f"{megabytes:,} MB of memory"
        )
    return "reading it broke the process that read it"
