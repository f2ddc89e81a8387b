"""Who uses a home's server. The kernel releases their locks even after `kill -9`."""

import fcntl
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from filelock import Timeout

from flows.runtime.server_record import ServerError, read_log_tail
from tasks.files.locks import explain_no_locks, hold_lock

START_SECONDS = 90.0
"""How long a server may take to start; the first start creates the database."""
_FLOCK = re.compile(r"FLOCK +ADVISORY +READ +(\d+) \S+:(\d+) ")
"""A line of /proc/locks: the process that holds a shared lock, and its file's inode."""


@contextmanager
def hold_users_lock(home: Path) -> Iterator[IO[str]]:
    """Hold the shared lock that keeps the server of `home` alive (see server_process.py).

    Wait for a server that is ending.
    """
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        users = (home / "users.lock").open("a")
    except OSError as error:
        raise ServerError(
            f"Cannot write to Prefect's folder {home} ({error.strerror}). Make it writable, or set "
            "PREFECT_API_URL to a server that runs elsewhere."
        ) from error
    with users:
        with explain_no_locks(home):
            fcntl.flock(users, fcntl.LOCK_SH)
        yield users


def is_last_user(users: IO[str]) -> bool:
    """Whether nobody else uses the server; if so, take the lock, so that nobody can join it.
    Otherwise the lock is lost."""
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def hold_start_lock(home: Path) -> Iterator[None]:
    """Let one process at a time look for a server and start one."""
    try:
        with hold_lock(home / "starting.lock", START_SECONDS):
            yield
    except Timeout as error:
        raise ServerError(
            f"Another process has been starting the Prefect server of {home} for more than "
            f"{START_SECONDS:.0f} s. {read_log_tail(home)}"
        ) from error


def list_users(home: Path) -> list[str]:
    """Name the processes that use the server of `home`; none where the system does not tell."""
    import psutil

    inode, named = (home / "users.lock").stat().st_ino, []
    with suppress(OSError):
        for pid, of in _FLOCK.findall(Path("/proc/locks").read_text()):
            with suppress(psutil.Error):
                if int(of) == inode:
                    named.append(f"pid {pid} ({' '.join(psutil.Process(int(pid)).cmdline())})")
    return named
