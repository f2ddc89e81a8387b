"""Write a page's body into the page store while it arrives.

A small buffer is held in memory; a thread compresses it and writes it to disk, so that no other
page waits for the disk.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import ParamSpec, TypeVar

from tasks.warehouse.contents import ContentWriter, PageStore

BUFFER_BYTES = 262_144
ParamsT = ParamSpec("ParamsT")
ResultT = TypeVar("ResultT")


class BodyWriter:
    """Writes one body: `add` its pieces, then `store` it. Without `store` nothing remains."""

    def __init__(self, store: PageStore) -> None:
        self._store = store
        self._buffer = bytearray()
        self._receiving: ContentWriter | None = None

    async def add(self, pieces: AsyncIterator[bytes]) -> None:
        """Add pieces as they come.

        Raises:
            UnwritableWarehouse: the disk is full or not writable.
        """
        async for piece in pieces:
            self._buffer += piece
            if len(self._buffer) >= BUFFER_BYTES:
                buffer, self._buffer = self._buffer, bytearray()
                await run_in_thread(self._write, buffer)

    async def store(self) -> tuple[str, int]:
        """Finish the body on disk; return its sha-256 and its bytes.

        Raises:
            UnwritableWarehouse: as `add`.
        """
        return await run_in_thread(self._store_rest)

    async def __aenter__(self) -> "BodyWriter":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._receiving:
            self._receiving.__exit__(kind, error, trace)

    def _write(self, buffer: bytearray) -> None:
        self._receiving = self._receiving or self._store.create()
        self._receiving.write(bytes(buffer))

    def _store_rest(self) -> tuple[str, int]:
        with self._receiving or self._store.create() as receiving:
            receiving.write(bytes(self._buffer))
            return receiving.keep(), receiving.n_bytes


async def run_in_thread(
    function: Callable[ParamsT, ResultT], *args: ParamsT.args, **kwargs: ParamsT.kwargs
) -> ResultT:
    """Call in a thread; on cancellation still wait for it, since it is using the files."""
    work = asyncio.ensure_future(asyncio.to_thread(function, *args, **kwargs))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])
        raise
