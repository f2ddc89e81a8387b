"""One process owns the warehouse; the others wait and are told for whom.

The lock is a file lock beside the database (released by the kernel even on `kill -9`);
who holds it stands in a small JSON file next to it, so that a waiting process can say.
"""

import getpass
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from tasks.warehouse.errors import UnwritableWarehouse, WarehouseBusy
from tasks.warehouse.rows import utc_now

POLL_SECONDS = 0.5


class Holder(BaseModel):
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
    return warehouse.with_name(warehouse.name + ".lock")


def holder_of(warehouse: Path) -> Holder | None:
    """Who says it holds the lock; None if nobody has written a name."""
    try:
        return Holder.model_validate_json(_holder_path(warehouse).read_text("utf-8"))
    except (OSError, ValidationError, ValueError):
        return None


@contextmanager
def own(
    warehouse: Path,
    *,
    wait_seconds: float | None = None,
    on_wait: Callable[[str], None] | None = None,
    doing: str | None = None,
) -> Iterator[None]:
    """Hold the warehouse's lock.

    Args:
        doing: what those who wait are told we do; this process's command unless given.
        wait_seconds: None waits as long as it takes, 0 does not wait.
        on_wait: told once, in one line, whom we wait for.

    Raises:
        WarehouseBusy: it was still held when the time was over.
        UnwritableWarehouse: the lock file cannot be made.
    """
    lock = FileLock(lock_path(warehouse))
    _acquire(lock, warehouse, wait_seconds, on_wait)
    try:
        _holder_path(warehouse).write_text(_myself(doing).model_dump_json(), "utf-8")
        yield
    finally:
        with suppress(OSError):
            _holder_path(warehouse).unlink(missing_ok=True)
        lock.release()


def _acquire(
    lock: FileLock,
    warehouse: Path,
    wait_seconds: float | None,
    on_wait: Callable[[str], None] | None,
) -> None:
    deadline = None if wait_seconds is None else time.monotonic() + wait_seconds
    told = False
    while True:
        try:
            lock.acquire(timeout=0)
            return
        except Timeout:
            who = holder_of(warehouse)
            line = f"{warehouse} is in use by {who or 'another process'}"
            if deadline is not None and time.monotonic() >= deadline:
                raise WarehouseBusy(line) from None
            if on_wait and not told:
                on_wait(f"{line}; waiting for it to finish.")
                told = True
            time.sleep(POLL_SECONDS)
        except OSError as error:
            raise UnwritableWarehouse(
                f"{lock_path(warehouse)}: cannot make the lock file ({error.strerror or error}). "
                "Make the folder writable, or choose another place with --warehouse."
            ) from error


def _holder_path(warehouse: Path) -> Path:
    return warehouse.with_name(warehouse.name + ".holder.json")


def _myself(doing: str | None) -> Holder:
    what = doing or " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
    return Holder(
        pid=os.getpid(),
        host=socket.gethostname(),
        user=getpass.getuser(),
        command=json.dumps(what[:200])[1:-1],
        since=utc_now().strftime("%Y-%m-%d %H:%M:%S UTC"),
    )
