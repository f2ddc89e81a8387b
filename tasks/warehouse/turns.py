"""Turns: what only one process may do at a time, where several share a warehouse.

The owner of a DuckDB file is alone, so every turn is its own at once. In a DuckLake a turn is an
advisory lock in the catalog's Postgres (see lake_turns.py): it ends with the process that holds it,
however that ends, so nothing has to expire and no turn is left behind. It is no queue: what is to
be done is asked of the tables, and a turn only keeps two from doing the same.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tasks.warehouse.lake_turns import LakeTurns

POLL_SECONDS = 0.5


class OwnTurns:
    """Of a process that owns the warehouse alone."""

    shared = False
    """Whether others may be at work in it."""

    def take(self, key: str) -> bool:
        """Take the turn if nobody has it."""
        return True

    def leave(self, key: str) -> None:
        """Give it back."""

    def holder(self, key: str) -> str:
        """Who has it, for people."""
        return "nobody"

    @contextmanager
    def committing(self) -> Iterator[None]:
        """The block is the only one that commits."""
        yield

    def close(self) -> None:
        """Give all back."""


@asynccontextmanager
async def turn(
    turns: "OwnTurns | LakeTurns", key: str, on_wait: Callable[[str], None] | None = None
) -> AsyncIterator[None]:
    """Wait for a turn without holding up the event loop, and have it for the block.

    on_wait: told once, in one line, whom we wait for.
    """
    if not turns.shared:
        yield
        return
    await taken(turns, key, on_wait)
    try:
        yield
    finally:
        turns.leave(key)


async def taken(
    turns: "OwnTurns | LakeTurns", key: str, on_wait: Callable[[str], None] | None = None
) -> None:
    """Wait for a turn; who has it then must leave it."""
    told = False
    while not await asyncio.to_thread(turns.take, key):
        if on_wait and not told:
            who = await asyncio.to_thread(turns.holder, key)
            on_wait(f"{key} is with {who}; waiting for it.")
            told = True
        await asyncio.sleep(POLL_SECONDS)
