"""Waiting for a lock in a thread: who is cancelled meanwhile keeps nothing locked."""

import asyncio
import threading
from typing import Any

import pytest

from tasks.warehouse.locks import acquire_lock


class SlowLocks:
    """Locks whose database answers when it is told to."""

    shared = True

    def __init__(self) -> None:
        self.asked, self.may_answer = threading.Event(), threading.Event()
        self.held: set[str] = set()

    def acquire(self, key: str) -> bool:
        self.asked.set()
        assert self.may_answer.wait(20)
        self.held.add(key)
        return True

    def release(self, key: str) -> None:
        self.held.discard(key)


def test_a_cancelled_wait_leaves_the_lock_free() -> None:
    locks: Any = SlowLocks()

    async def cancel() -> None:
        waiting = asyncio.create_task(acquire_lock(locks, "cell 1"))
        await asyncio.to_thread(locks.asked.wait, 20)
        waiting.cancel()
        asyncio.get_running_loop().call_later(0, locks.may_answer.set)
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(cancel())
    assert locks.may_answer.is_set()
    assert locks.held == set()
