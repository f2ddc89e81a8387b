"""Keep other processes of the same user out of this one's memory."""

import ctypes
import resource
import sys

_PR_SET_DUMPABLE = 4


def forbid_dumps() -> None:
    """Let nobody but root read this process's memory or environment, or dump them to a file."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform != "linux":
        return
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_DUMPABLE) failed")
