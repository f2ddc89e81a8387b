"""Read untrusted pages in helper processes, each page within limits of time and memory.

A page that never finishes, exhausts the memory or crashes its reader costs one helper and becomes
`unreadable`; the next page gets a new helper. Helpers load the bytes themselves.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tasks.configuration.web import ReadingBounds
from tasks.processes.answers import HelperFailed
from tasks.processes.helper import HelperCrashed, LimitExceeded
from tasks.processes.pool import HelperProcesses
from tasks.warehouse.contents import PageStore
from tasks.warehouse.errors import DamagedWarehouse
from tasks.web.page import FetchedContent, ReadPage
from tasks.web.reading import get_reader_version, read_page

PAGES_PER_HELPER = 500
"""Pages after which a helper is replaced, to free what libraries keep in memory."""


class PageReaders:
    """Reads `bounds.workers` pages at once; any number of callers may wait."""

    def __init__(self, bounds: ReadingBounds) -> None:
        self._bounds = bounds
        self._helpers = HelperProcesses(
            bounds.workers, megabytes=bounds.megabytes, calls_per_helper=PAGES_PER_HELPER
        )

    async def read(self, material: FetchedContent) -> ReadPage:
        """Read a page; its bytes are sent to a helper once one is free."""
        return await self._read_in_helper(read_page, material, self._bounds)

    async def read_stored(self, folder: Path, sha: str, material: FetchedContent) -> ReadPage:
        """Read a page whose bytes are in a PageStore; `material` comes without its content.

        Raises:
            DamagedWarehouse: the bytes are missing or damaged.
        """
        try:
            return await self._read_in_helper(_read_stored, folder, sha, material, self._bounds)
        except DamagedWarehouse as error:
            # A helper that a page has taken over may say so of any page.
            await asyncio.to_thread(PageStore(folder).get, sha)
            return _build_unreadable(f"its reader could not load it ({error})")

    async def close(self) -> None:
        """Stop the helpers, and cancel all pages under way."""
        await asyncio.to_thread(self._helpers.close)

    async def __aenter__(self) -> "PageReaders":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _read_in_helper(self, function: Callable[..., ReadPage], *arguments: Any) -> ReadPage:
        try:
            return await self._helpers.run(
                function, *arguments, seconds=self._bounds.seconds, raises=(DamagedWarehouse,)
            )
        except (LimitExceeded, HelperCrashed) as error:
            return _build_unreadable(f"reading it {error}")
        except HelperFailed as error:
            return _build_unreadable(f"its reader failed ({error})")


def _read_stored(
    folder: Path, sha: str, material: FetchedContent, bounds: ReadingBounds
) -> ReadPage:
    content = PageStore(folder).get(sha)
    return read_page(material.model_copy(update={"content": content}), bounds)


def _build_unreadable(reason: str) -> ReadPage:
    return ReadPage(status="unreadable", error=reason, reader=get_reader_version())
