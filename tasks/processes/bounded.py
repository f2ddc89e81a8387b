"""Calls in a process of their own, with limits on time and memory.

Files from strangers may compute for ever or fill the memory: then only this process ends.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from tasks.processes.helper import Helper, HelperCrashed, LimitExceeded

ResultT = TypeVar("ResultT")


def run_bounded(
    function: Callable[..., ResultT],
    *arguments: Any,
    seconds: float,
    megabytes: int,
    raises: Sequence[type[Exception]] = (),
) -> ResultT:
    """Call `function(*arguments)` in a new process; see `Helper.call`.

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
