"""Read untrusted pages in helper processes, each page within limits of time and memory.

A page that never finishes, exhausts the memory or crashes its reader costs one helper and becomes
`unreadable`; the next page gets a new helper. Helpers clear their environment before their first
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
from tasks.processes.pool import exit_with_parent
from tasks.warehouse.contents import PageStore
from tasks.web.page import FetchedContent, ReadPage
from tasks.web.reading import get_reader_version, read_page

KEPT_VARIABLES = frozenset({"PATH", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH"})
"""Environment variables that a helper keeps; none of them holds a key."""
GRACE_SECONDS = 10.0
"""The pool ends a helper after its time limit; the helper's own alarm does so this much later, in
case the pool is gone."""
PAGES_PER_HELPER = 500
"""Pages after which a helper is replaced, to free what libraries keep in memory."""
TRIES = 2
"""Tries per page: a helper that dies at the wrong moment breaks the whole pool."""


class PageReaders:
    """Reads `bounds.workers` pages at once; any number of callers may wait."""

    def __init__(self, bounds: ReadingBounds) -> None:
        self._bounds = bounds
        self._slots = asyncio.Semaphore(bounds.workers)
        self._pool: ProcessPool | None = None
        self._under_way: set[Future[ReadPage]] = set()

    async def read(self, material: FetchedContent) -> ReadPage:
        """Read a page; its bytes are sent to a helper once one is free."""
        return await self._read_in_pool(read_page, material, self._bounds)

    async def read_stored(self, folder: Path, sha: str, material: FetchedContent) -> ReadPage:
        """Read a page whose bytes are in a PageStore; `material` comes without its content.

        Raises:
            DamagedWarehouse: the bytes are missing or damaged.
        """
        return await self._read_in_pool(_read_stored, folder, sha, material, self._bounds)

    async def close(self) -> None:
        """Stop the helpers, and cancel all pages under way."""
        for future in tuple(self._under_way):
            future.cancel()
        await self._stop_pool(self._pool)

    async def __aenter__(self) -> "PageReaders":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _read_in_pool(self, function: Callable[..., ReadPage], *arguments: Any) -> ReadPage:
        async with self._slots:
            for _ in range(TRIES):
                pool = self._pool = self._pool or self._start_pool()
                try:
                    return await self._schedule(pool, function, *arguments)
                except TimeoutError:
                    return _build_unreadable(
                        f"reading it took more than {self._bounds.seconds:g} seconds"
                    )
                except MemoryError:
                    return _build_unreadable(
                        f"reading it took more than {self._bounds.megabytes:,} MB of memory"
                    )
                except ProcessExpired as error:
                    return _build_unreadable(_describe_exit(error, self._bounds))
                except (BrokenProcessPool, RuntimeError):  # the pool itself, not the page
                    await self._stop_pool(pool)
        return _build_unreadable("its reader broke twice")

    def _start_pool(self) -> ProcessPool:
        return ProcessPool(
            self._bounds.workers,
            max_tasks=PAGES_PER_HELPER,
            initializer=_prepare_helper,
            initargs=(self._bounds.megabytes,),
            # spawn: a forked copy of a process with threads and an open DuckDB is not safe.
            context=get_context("spawn"),
        )

    async def _schedule(
        self, pool: ProcessPool, function: Callable[..., ReadPage], *arguments: Any
    ) -> ReadPage:
        seconds = self._bounds.seconds
        future: Future[ReadPage] = pool.schedule(
            _run_with_alarm, args=(seconds, function, *arguments), timeout=seconds
        )
        self._under_way.add(future)
        try:
            return await asyncio.wrap_future(future)
        finally:
            self._under_way.discard(future)

    async def _stop_pool(self, pool: ProcessPool | None) -> None:
        if pool is not None and self._pool is pool:  # else another has ended it
            self._pool = None
            pool.stop()  # type: ignore[no-untyped-call]
            await asyncio.to_thread(pool.join)


def _prepare_helper(megabytes: int) -> None:
    """Set up a helper process before its first page."""
    for name in set(os.environ) - KEPT_VARIABLES:
        del os.environ[name]
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    exit_with_parent()


def _run_with_alarm(seconds: float, function: Callable[..., ReadPage], *arguments: Any) -> ReadPage:
    with _alarm(seconds + GRACE_SECONDS):
        return function(*arguments)


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Let the kernel end this process after a time, even inside a library call."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _read_stored(
    folder: Path, sha: str, material: FetchedContent, bounds: ReadingBounds
) -> ReadPage:
    content = PageStore(folder).get(sha)
    return read_page(material.model_copy(update={"content": content}), bounds)


def _describe_exit(error: ProcessExpired, bounds: ReadingBounds) -> str:
    code = error.exitcode or 0
    if code == -signal.SIGALRM:
        return f"reading it took more than {bounds.seconds:g} seconds"
    if code < 0:
        return (
            f"reading it ended in {signal.Signals(-code).name}, perhaps for more than "
            f"{bounds.megabytes:,} MB of memory"
        )
    return "reading it broke the process that read it"


def _build_unreadable(reason: str) -> ReadPage:
    return ReadPage(status="unreadable", error=reason, reader=get_reader_version())
