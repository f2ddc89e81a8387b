"""Named locks: work that only one of the processes sharing a warehouse may do at a time.

A DuckDB file has one owner, who gets every lock at once. In a DuckLake a lock is an advisory lock
in the catalog's Postgres (see lake_locks.py): it ends with the process that holds it, so it needs
no expiry and nobody has to clean up. Locks are no queue: the tables say what is pending, and a lock
only keeps two processes from doing the same work.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tasks.warehouse.lake_locks import LakeLocks

POLL_SECONDS = 0.5


class LocalLocks:
    """The locks of a process that owns its warehouse: always free."""

    shared = False
    """Whether other processes may work in the same warehouse."""

    def acquire(self, key: str) -> bool:
        """Acquire the lock if it is free; return whether it was."""
        return True

    def release(self, key: str) -> None:
        """Release the lock."""

    def describe_holder(self, key: str) -> str:
        """Describe the lock's holder for people."""
        return "nobody"

    @contextmanager
    def commit_lock(self) -> Iterator[None]:
        """Keep other processes from committing."""
        yield

    def close(self) -> None:
        """Release all locks."""


@asynccontextmanager
async def hold_lock(
    locks: "LocalLocks | LakeLocks", key: str, on_wait: Callable[[str], None] | None = None
) -> AsyncIterator[None]:
    """Wait for a lock without blocking the event loop, and hold it.

    on_wait: called once, with one line that names the holder.
    """
    if not locks.shared:
        yield
        return
    await wait_for_lock(locks, key, on_wait)
    try:
        yield
    finally:
        locks.release(key)


async def acquire_lock(locks: "LocalLocks | LakeLocks", key: str) -> bool:
    """Like `acquire`, without blocking the event loop; a cancelled caller holds nothing."""
    acquiring = asyncio.ensure_future(asyncio.to_thread(locks.acquire, key))
    try:
        return await asyncio.shield(acquiring)
    except asyncio.CancelledError:
        await asyncio.wait([acquiring])
        if acquiring.exception() is None and acquiring.result():
            locks.release(key)
        raise


async def wait_for_lock(
    locks: "LocalLocks | LakeLocks", key: str, on_wait: Callable[[str], None] | None = None
) -> None:
    """Wait for a lock and acquire it; the caller must release it."""
    reported = False
    while not await acquire_lock(locks, key):
        if on_wait and not reported:
            holder = await asyncio.to_thread(locks.describe_holder, key)
            on_wait(f"{key} is locked by {holder}; waiting for it to finish.")
            reported = True
        await asyncio.sleep(POLL_SECONDS)
