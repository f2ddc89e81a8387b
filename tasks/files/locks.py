"""Lock files, which the kernel releases when their process ends; some file systems have none."""

import errno
import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Self

from filelock import FileLock

from tasks.errors import ExpectedError

UNSUPPORTED = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}


class NoFileLocks(ExpectedError):
    """A folder's file system has no locks."""

    @classmethod
    def met(cls, folder: Path, reason: str | None) -> Self:
        """Make the error for what the operating system said."""
        return cls(
            f"{folder} is on a file system without file locks ({reason}), such as some network "
            "drives: nothing would keep two processes apart. Use a folder on a local disk "
            "(--warehouse; for Prefect's EVERGREEN_PREFECT_HOME)."
        )


@contextmanager
def explain_no_locks(folder: Path, kind: type[NoFileLocks] = NoFileLocks) -> Iterator[None]:
    """Raise NoFileLocks if the block cannot lock a file because the folder has no locks."""
    try:
        yield
    except OSError as error:
        if error.errno in UNSUPPORTED:
            raise kind.met(folder, error.strerror) from error
        raise


@contextmanager
def hold_lock(file: Path, timeout: float = -1) -> Iterator[None]:
    """Hold a lock file. Raise Timeout if another process still holds it after so many seconds (-1
    waits for ever), NoFileLocks if its file system has none."""
    with explain_no_locks(file.parent):
        held = FileLock(file, fallback_to_soft=False).acquire(timeout)
    with held:
        yield


def check_locks(folder: Path) -> None:
    """Raise NoFileLocks unless files in a folder can be locked; OSError if it is not writable."""
    with TemporaryFile(dir=folder) as file, explain_no_locks(folder):
        fcntl.flock(file, fcntl.LOCK_EX)  # as Evergreen does
        fcntl.lockf(file, fcntl.LOCK_EX)  # as DuckDB and SQLite do
