"""The base of page sources: pages' own servers, or a service that has the pages."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar, ParamSpec, TypeVar

from tasks.configuration.web import RequestPolicy
from tasks.warehouse.contents import ContentWriter, PageStore
from tasks.warehouse.pages import FetchSource
from tasks.web.errors import FetchError, FetchFailed, FetchingStopped
from tasks.web.hosts import retry_failures
from tasks.web.kinds import PDF_WITHIN
from tasks.web.page import FetchResult, PageRequest
from tasks.web.redirects import PageResponse, RedirectFollower

BUFFER_BYTES = 262_144
ParamsT = ParamSpec("ParamsT")
ResultT = TypeVar("ResultT")
OpenPage = Callable[[FetchResult], AbstractAsyncContextManager[PageResponse]]
CheckAnswer = Callable[[PageResponse, bool], Awaitable[None]]


class BodyWriter:
    """Writes one body: `add` its pieces, then `store` it. Without `store` nothing remains.

    A small buffer is held in memory; a thread compresses it and writes it to disk, so that no other
    page waits for the disk.
    """

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

    async def __aexit__(self, *failure: Any) -> None:
        if self._receiving:
            self._receiving.__exit__(*failure)

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


class WebSource(ABC):
    """Fetches single pages, and tells an outage from pages that cannot be fetched."""

    source: ClassVar[FetchSource]
    name: ClassVar[str] = ""
    """The service's name, for messages; empty for pages' own servers."""

    def __init__(
        self, follower: RedirectFollower, manners: RequestPolicy, store: PageStore
    ) -> None:
        self.throttle = follower.throttle
        self._follower = follower
        self._manners = manners
        self._store = store

    @abstractmethod
    async def fetch(self, wanted: PageRequest) -> FetchResult:
        """Fetch one page, with retries; it is `deferred` if it cannot be fetched in this run.

        Raises:
            FetchingStopped: no page at all can be fetched from this source now.
            UnwritableWarehouse: the page could not be stored.
        """

    @abstractmethod
    async def is_up(self, answered: Sequence[str]) -> bool:
        """Probe the network, given URLs whose servers are known to answer."""

    @abstractmethod
    def make_outage_error(self, seen: str) -> FetchingStopped:
        """Make the error to raise for an outage, given a description of the failures."""

    async def _download(
        self,
        result: FetchResult,
        open_page: OpenPage,
        check_answer: CheckAnswer,
        tries: int | None = None,
    ) -> None:
        """Store the body of the first answer that counts, with retries; of a page that only shows a
        PDF, that PDF's.

        Args:
            check_answer: raises FetchError for an answer that does not count; told whether this is
                the last try.
        """

        async def request(is_last: bool) -> None:
            async with BodyWriter(self._store) as body:
                async with open_page(result) as answer:
                    await check_answer(answer, is_last)
                    await body.add(answer.pieces())
                if not await self._take_pdf(answer.shown_pdf, result, open_page, check_answer):
                    result.succeed(*await body.store())

        await retry_failures(self._manners, request, tries)

    async def _take_pdf(
        self, url: str | None, page: FetchResult, open_page: OpenPage, check_answer: CheckAnswer
    ) -> bool:
        """Store the PDF that a page shows in its place; return whether there is one to be had."""

        async def check_pdf(answer: PageResponse, is_last: bool) -> None:
            await check_answer(answer, is_last)
            if answer.status != 200 or b"%PDF-" not in await answer.peek(PDF_WITHIN):
                raise FetchFailed(f"{answer.host} has no PDF there", host=answer.host)

        if not url:
            return False
        pdf = FetchResult(source=self.source, asked_url=url, is_last_look=page.is_last_look)
        try:
            await self._download(pdf, open_page, check_pdf)
        except FetchError:
            return False
        page.take_over(pdf)
        return True
