"""The lock of a warehouse file: one process owns the file, the others wait.

The lock is a file lock beside the database, which the kernel releases even on `kill -9`. A small
JSON file next to it describes the holder, so that waiting processes can name it.
"""

import getpass
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from tasks.files.locks import explain_no_locks
from tasks.foreign_text import make_visible
from tasks.masking import hide_in_command
from tasks.warehouse.errors import LocklessWarehouse, UnwritableWarehouse, WarehouseBusy
from tasks.warehouse.rows import utc_now

POLL_SECONDS = 0.5
MAX_COMMAND_CHARS = 200

ResultT = TypeVar("ResultT")


class LockHolder(BaseModel):
    """The process that owns a warehouse, as it described itself when it took the lock."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    pid: int
    host: str
    user: str
    command: str
    since: str

    def __str__(self) -> str:
        return f"pid {self.pid} on {self.host} ({self.user}: {self.command}, since {self.since})"


def lock_path(warehouse: Path) -> Path:
    """Return the path of the warehouse's lock file."""
    return warehouse.with_name(warehouse.name + ".lock")


def read_holder(warehouse: Path) -> LockHolder | None:
    """Return the lock's holder; None if no process has described itself."""
    try:
        return LockHolder.model_validate_json(_holder_path(warehouse).read_text("utf-8"))
    except (OSError, ValidationError, ValueError):
        return None


@contextmanager
def lock_warehouse(
    warehouse: Path,
    *,
    wait_seconds: float | None = None,
    on_wait: Callable[[str], None] | None = None,
    activity: str | None = None,
    only_reads: bool = False,
) -> Iterator[None]:
    """Hold the warehouse's lock.

    Args:
        wait_seconds: None waits for ever, 0 does not wait.
        on_wait: called once, with one line that names the holder.
        activity: what waiting processes are told about this one; by default its command.
        only_reads: go on without the lock where it cannot be written; DuckDB's own lock on the
            file then keeps readers and writers apart.

    Raises:
        WarehouseBusy: another process still holds the lock when the time is over.
        UnwritableWarehouse: the lock file cannot be made.
        LocklessWarehouse: the folder has no file locks.
    """
    lock = FileLock(lock_path(warehouse), fallback_to_soft=False)
    try:
        wait_until_free(partial(_acquire, lock, warehouse), wait_seconds, on_wait)
    except UnwritableWarehouse:
        if not only_reads:
            raise
        yield
        return
    try:
        with suppress(OSError):  # without it the holder only has no name
            _holder_path(warehouse).unlink(missing_ok=True)
            with _holder_path(warehouse).open("x", encoding="utf-8") as file:  # follows no link
                file.write(_describe_process(activity).model_dump_json())
        yield
    finally:
        with suppress(OSError):
            _holder_path(warehouse).unlink(missing_ok=True)
        lock.release()


def wait_until_free(
    attempt: Callable[[], ResultT],
    wait_seconds: float | None,
    on_wait: Callable[[str], None] | None,
) -> ResultT:
    """Return what an attempt returns; try again while it raises WarehouseBusy, like
    `lock_warehouse`."""
    deadline = None if wait_seconds is None else time.monotonic() + wait_seconds
    reported = False
    while True:
        try:
            return attempt()
        except WarehouseBusy as busy:
            if deadline is not None and time.monotonic() >= deadline:
                raise
            if on_wait and not reported:
                on_wait(f"{busy.line}; waiting for it to finish.")
                reported = True
            time.sleep(POLL_SECONDS)


def _acquire(lock: FileLock, warehouse: Path) -> None:
    try:
        with explain_no_locks(warehouse.parent, LocklessWarehouse):
            lock.acquire(timeout=0)
    except Timeout:
        holder = read_holder(warehouse) or "another process"
        raise WarehouseBusy(f"{warehouse} is in use by {holder}") from None
    except OSError as error:
        raise UnwritableWarehouse(
            f"{lock_path(warehouse)}: cannot make the lock file ({error.strerror or error}). "
            "Make the folder writable, or choose another place with --warehouse."
        ) from error


def _holder_path(warehouse: Path) -> Path:
    return warehouse.with_name(warehouse.name + ".holder.json")


def _describe_process(activity: str | None) -> LockHolder:
    activity = activity or " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
    return LockHolder(
        pid=os.getpid(),
        host=socket.gethostname(),
        user=getpass.getuser(),
        command=hide_in_command(make_visible(activity, one_line=True))[:MAX_COMMAND_CHARS],
        since=utc_now().strftime("%Y-%m-%d %H:%M:%S UTC"),
    )
