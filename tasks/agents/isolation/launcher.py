"""Gives up what a program may not do, then becomes the program; it has no other way to start.

    python -m tasks.agents.isolation.launcher PLAN LIMITS STATUS_FD SOCKET_FD -- COMMAND…

PLAN is an IsolationPlan; without one (`isolation: none`) only the limits apply. STATUS_FD is a pipe
to the supervisor: it is closed when the program starts; if something fails, the reason is written
to it first. Over SOCKET_FD (-1: none) the supervisor gets the descriptor with which it answers each
`connect`.
"""

import ctypes
import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Sequence

from tasks.agents.isolation.landlock import restrict_files
from tasks.agents.isolation.plan import DEVICES, PROCESSES, IsolationPlan
from tasks.agents.isolation.system_calls import filter_calls, set_no_new_privileges

FAILED = 126
PR_SET_PDEATHSIG = 1


def main(arguments: Sequence[str]) -> int:
    """Become the program; return only if that failed."""
    plan, limits, status, channel, _, *command = arguments
    os.set_inheritable(int(status), False)
    try:
        if sys.platform == "linux":  # the program ends with its supervisor
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.chdir(os.environ["HOME"])
        if plan:
            isolate(IsolationPlan.parse(plan), int(channel))
        for name, value in json.loads(limits).items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
        os.execv(command[0], command)
    except (OSError, ImportError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        os.write(int(status), reason.encode()[:1000])
    return FAILED


def isolate(plan: IsolationPlan, channel: int) -> None:
    """Restrict this process and what it starts, for good.

    Raises:
        OSError: the kernel refuses a restriction.
    """
    set_no_new_privileges()
    restrict_files(
        [*(("/proc",) if plan.bubblewrap else PROCESSES), *plan.readable],
        [*plan.writable, *(("/dev/shm",) if plan.bubblewrap else ())],
        DEVICES,
        tcp=plan.network == "open",
    )
    listener = filter_calls(plan.network)
    if listener is not None:
        with socket.socket(fileno=channel) as supervisor:
            socket.send_fds(supervisor, [b"1"], [listener])
        os.close(listener)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
