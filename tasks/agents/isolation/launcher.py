"""Gives up what a program may not do, then becomes the program; it has no other way to start.

    python -m tasks.agents.isolation.launcher PLAN LIMITS STATUS_FD SOCKET_FD LIFE_FD -- COMMAND…

PLAN is an IsolationPlan; without one (`isolation: none`) only the limits apply. STATUS_FD is a pipe
to the supervisor: it is closed when the program starts; if something fails, the reason is written
to it first. Over SOCKET_FD (-1: none) the supervisor gets the descriptor with which it answers each
`connect`. LIFE_FD is a socket to the supervisor: when that closes its end or ends itself, all
processes of the program end.
"""

import ctypes
import errno
import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Sequence

from tasks.agents.isolation.landlock import restrict_files, restrict_signals
from tasks.agents.isolation.plan import DEVICES, PROCESSES, IsolationPlan
from tasks.agents.isolation.system_calls import filter_calls, set_no_new_privileges

FAILED = 126
PR_SET_PDEATHSIG = 1


def main(arguments: Sequence[str]) -> int:
    """Become the program; return only if that failed."""
    plan, limits, status, channel, life, _, *command = arguments
    for descriptor in (status, life):
        os.set_inheritable(int(descriptor), False)
    try:
        if sys.platform == "linux":  # the program ends with its supervisor
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.chdir(os.environ["HOME"])
        if plan:
            isolate(IsolationPlan.parse(plan), int(channel), int(life))
        for name, value in json.loads(limits).items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
        os.execv(command[0], command)
    except (OSError, ImportError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        os.write(int(status), reason.encode()[:1000])
    return FAILED


def isolate(plan: IsolationPlan, channel: int, life: int) -> None:
    """Restrict this process and what it starts, for good.

    Raises:
        OSError: the kernel refuses a restriction.
    """
    set_no_new_privileges()
    restrict_files(
        [*(("/proc",) if plan.bubblewrap else PROCESSES), *plan.readable],
        plan.listable,
        [*plan.writable, *(("/dev/shm",) if plan.bubblewrap else ())],
        DEVICES,
        tcp=plan.network == "open",
    )
    if not plan.bubblewrap:  # whose processes the kernel ends with the first one
        start_reaper(life)
    listener = filter_calls(plan.network)
    if listener is not None:
        with socket.socket(fileno=channel) as supervisor:
            socket.send_fds(supervisor, [b"1"], [listener])
        os.close(listener)


def start_reaper(life: int) -> None:
    """Start the process that ends all others which this one starts.

    It may signal them and nobody else, and they cannot signal it. Only `kill` of all at once
    reaches those that start others more quickly than anybody can list them.

    Raises:
        OSError: signals are not kept inside.
    """
    try:
        os.kill(os.getppid(), 0)
    except PermissionError:
        pass
    else:  # it would end all processes of this user
        raise OSError(errno.EPERM, "Landlock does not keep signals inside")
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        restrict_signals()
        return
    if reaper := os.fork():  # the supervisor adopts it: the program must not wait for it
        os.write(life, str(reaper).encode())
        os._exit(0)
    try:
        os.setsid()
        os.dup2(life, 0)
        os.closerange(1, os.sysconf("SC_OPEN_MAX"))
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        while os.read(0, 1):
            pass
    finally:
        os.kill(-1, signal.SIGKILL)
        os._exit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
