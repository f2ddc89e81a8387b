"""A page's body on its way into the folder of pages.

A little of it is held in memory; what has gathered is packed, written and brought to disk in a
thread, so that no other page waits for a disk.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import NamedTuple, ParamSpec, TypeVar

from tasks.warehouse.page_store import PageStore, Receiving

GATHERED_BYTES = 262_144
ParamsT = ParamSpec("ParamsT")
ResultT = TypeVar("ResultT")


class Kept(NamedTuple):
    sha: str
    n_bytes: int


class Body:
    """Take the pieces, then `keep`. Left without, nothing remains."""

    def __init__(self, store: PageStore) -> None:
        self._store = store
        self._gathered = bytearray()
        self._receiving: Receiving | None = None

    async def take(self, pieces: AsyncIterator[bytes]) -> None:
        """Add pieces as they come.

        Raises:
            UnwritableWarehouse: the disk is full, or the like.
        """
        async for piece in pieces:
            self._gathered += piece
            if len(self._gathered) >= GATHERED_BYTES:
                gathered, self._gathered = self._gathered, bytearray()
                await in_thread(self._write, gathered)

    async def keep(self) -> Kept:
        """Bring it to disk.

        Raises:
            UnwritableWarehouse: as `take`.
        """
        return await in_thread(self._keep)

    async def __aenter__(self) -> "Body":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._receiving:
            self._receiving.__exit__(kind, error, trace)

    def _write(self, gathered: bytearray) -> None:
        self._receiving = self._receiving or self._store.receive()
        self._receiving.write(bytes(gathered))

    def _keep(self) -> Kept:
        with self._receiving or self._store.receive() as receiving:
            receiving.write(bytes(self._gathered))
            return Kept(receiving.keep(), receiving.n_bytes)


async def in_thread(
    function: Callable[ParamsT, ResultT], *args: ParamsT.args, **kwargs: ParamsT.kwargs
) -> ResultT:
    """Call in a thread; whoever is cancelled meanwhile waits for it: its files are in use."""
    work = asyncio.ensure_future(asyncio.to_thread(function, *args, **kwargs))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])
        raise
