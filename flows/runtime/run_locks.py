"""Which process does a run: it holds a lock file of the Prefect home, which the kernel releases
when the process ends, even by `kill -9`. Prefect-free, since a served run holds it from the start.
"""

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from uuid import UUID

from filelock import Timeout

from flows.runtime.settings import prefect_home
from tasks.errors import ExpectedError
from tasks.files.locks import hold_lock

PROBE_SECONDS = 1.0
"""Longer than anybody holds a lock in order to see whether it is free."""


class RunTaken(ExpectedError):
    """Another process does the run."""


@contextmanager
def hold_run(run: UUID) -> Iterator[None]:
    """Hold the lock file of a run while it is done, and remove it afterwards.

    Raises:
        RunTaken: another process does the run.
        ExpectedError: the Prefect home cannot be written.
    """
    file = _lock_file(run)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ExpectedError(
            f"Cannot write to Prefect's folder {file.parent.parent} ({error.strerror}). Set "
            "EVERGREEN_PREFECT_HOME to a folder that can be written."
        ) from error
    with ExitStack() as stack:
        try:
            stack.enter_context(hold_lock(file, PROBE_SECONDS))
        except Timeout:
            raise RunTaken(f"Process {file.read_text('utf-8')} is at this run already.") from None
        file.write_text(f"{os.getpid()} {socket.gethostname()}", encoding="utf-8")
        stack.callback(file.unlink, missing_ok=True)
        yield


def is_held(run: UUID) -> bool:
    """Whether a process that uses this Prefect home does the run."""
    if not (file := _lock_file(run)).exists():
        return False
    try:
        with hold_lock(file, 0):
            return False
    except Timeout:
        return True


def list_runs(*, held: bool) -> list[UUID]:
    """Return the runs of this Prefect home that a process does; held=False: those whose process was
    killed, so that their lock files are left."""
    found = [UUID(file.stem) for file in _lock_file("").parent.glob("*-*.lock")]
    return [run for run in found if is_held(run) is held]


def forget_run(run: UUID) -> None:
    """Remove the lock file of a dead run."""
    if not is_held(run):
        _lock_file(run).unlink(missing_ok=True)


def kill_run(run: UUID) -> bool:
    """Kill the process that does the run; return whether there is one on this host."""
    if not is_held(run):
        return False
    pid, _, host = _lock_file(run).read_text("utf-8").partition(" ")
    if host != socket.gethostname():  # numbers of processes are another host's, or container's
        return False
    with suppress(ProcessLookupError):
        os.kill(int(pid), signal.SIGKILL)
    return True


def _lock_file(run: UUID | str) -> Path:
    home = Path(os.environ.get("PREFECT_HOME") or prefect_home())
    return home / "runs" / f"{run}.lock"
