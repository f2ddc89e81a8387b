"""Strangers' pages are read in helper processes, each page within its bounds of time and memory.

A page that computes for ever, fills the memory or breaks its reader costs a helper and is
`unreadable`; the next page finds a new helper. Helpers forget our environment before their first
page, load the bytes themselves, and end with their parent.
"""

import asyncio
import os
import resource
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from pebble import ProcessExpired, ProcessPool

from tasks.configuration.web import ReadingBounds
from tasks.processes.pool import end_with_parent
from tasks.warehouse.page_store import PageStore
from tasks.web.page import Material, ReadPage
from tasks.web.reading import read_page, reader_version

HANDED_ON = frozenset({"PATH", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH"})
"""Variables that a helper keeps; none of them holds a key."""
GRACE_SECONDS = 10.0
"""After its time a helper is ended by the pool; this much later by its own alarm, should nobody be
left to do it."""
PAGES_PER_HELPER = 500
"""Then a new one starts: what libraries keep in memory goes with the old one."""
TRIES = 2
"""A helper that dies at the wrong moment takes the pool with it; the next one reads the page."""


class PageReaders:
    """Reads pages, `bounds.workers` at once; any number of callers may wait."""

    def __init__(self, bounds: ReadingBounds) -> None:
        self._bounds = bounds
        self._places = asyncio.Semaphore(bounds.workers)
        self._pool: ProcessPool | None = None
        self._under_way: set[Future[ReadPage]] = set()

    async def read(self, material: Material) -> ReadPage:
        """The page that some bytes are. They are sent to the helper when its turn comes."""
        return await self._bounded(read_page, material, self._bounds)

    async def read_stored(self, folder: Path, sha: str, material: Material) -> ReadPage:
        """The page whose bytes a PageStore keeps; `material` without its content.

        Raises:
            DamagedWarehouse: the bytes are not there, or not what they were.
        """
        return await self._bounded(_read_stored, folder, sha, material, self._bounds)

    async def close(self) -> None:
        """End the helpers; who still waits for a page is cancelled."""
        for future in tuple(self._under_way):
            future.cancel()
        await self._end(self._pool)

    async def __aenter__(self) -> "PageReaders":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _bounded(self, function: Callable[..., ReadPage], *arguments: Any) -> ReadPage:
        async with self._places:
            for _ in range(TRIES):
                pool = self._pool = self._pool or self._started()
                try:
                    return await self._read(pool, function, *arguments)
                except TimeoutError:
                    return _unreadable(
                        f"reading it took more than {self._bounds.seconds:g} seconds"
                    )
                except MemoryError:
                    return _unreadable(
                        f"reading it took more than {self._bounds.megabytes:,} MB of memory"
                    )
                except ProcessExpired as error:
                    return _unreadable(_last_words(error, self._bounds))
                except (BrokenProcessPool, RuntimeError):  # the pool itself, not the page
                    await self._end(pool)
        return _unreadable("its reader broke twice")

    def _started(self) -> ProcessPool:
        return ProcessPool(
            self._bounds.workers,
            max_tasks=PAGES_PER_HELPER,
            initializer=_prepare,
            initargs=(self._bounds.megabytes,),
            # spawn: a forked copy of a process with threads and an open DuckDB is not safe.
            context=get_context("spawn"),
        )

    async def _read(
        self, pool: ProcessPool, function: Callable[..., ReadPage], *arguments: Any
    ) -> ReadPage:
        seconds = self._bounds.seconds
        future: Future[ReadPage] = pool.schedule(
            _within, args=(seconds, function, *arguments), timeout=seconds
        )
        self._under_way.add(future)
        try:
            return await asyncio.wrap_future(future)
        finally:
            self._under_way.discard(future)

    async def _end(self, pool: ProcessPool | None) -> None:
        if pool is not None and self._pool is pool:  # else another has ended it
            self._pool = None
            pool.stop()  # type: ignore[no-untyped-call]
            await asyncio.to_thread(pool.join)


def _prepare(megabytes: int) -> None:
    """What a helper does before its first page."""
    for name in set(os.environ) - HANDED_ON:
        del os.environ[name]
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    end_with_parent()


def _within(seconds: float, function: Callable[..., ReadPage], *arguments: Any) -> ReadPage:
    with _alarm(seconds + GRACE_SECONDS):
        return function(*arguments)


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """The kernel ends this process after some time, whatever library it is in by then."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _read_stored(folder: Path, sha: str, material: Material, bounds: ReadingBounds) -> ReadPage:
    content = PageStore(folder).get(sha)
    return read_page(material.model_copy(update={"content": content}), bounds)


def _last_words(error: ProcessExpired, bounds: ReadingBounds) -> str:
    code = error.exitcode or 0
    if code == -signal.SIGALRM:
        return f"reading it took more than {bounds.seconds:g} seconds"
    if code < 0:
        return (
            f"reading it ended in {signal.Signals(-code).name}, perhaps for more than "
            f"{bounds.megabytes:,} MB of memory"
        )
    return "reading it broke the process that read it"


def _unreadable(reason: str) -> ReadPage:
    return ReadPage(status="unreadable", error=reason, reader=reader_version())
