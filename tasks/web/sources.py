"""The base of page sources: pages' own servers, or a service that has the pages."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import ClassVar

from tasks.configuration.web import RequestPolicy
from tasks.warehouse.contents import PageStore
from tasks.warehouse.pages import FetchSource
from tasks.web.bodies import BodyWriter
from tasks.web.errors import FetchingStopped
from tasks.web.page import FetchResult, PageRequest
from tasks.web.redirects import PageResponse, RedirectFollower
from tasks.web.retries import retry_failures

OpenPage = Callable[[FetchResult], AbstractAsyncContextManager[PageResponse]]


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
        check_answer: Callable[[PageResponse, bool], Awaitable[None]],
        tries: int | None = None,
    ) -> None:
        """Store the body of the first answer that counts, with retries.

        Args:
            check_answer: raises FetchError for an answer that does not count; told whether this is
                the last try.
        """

        async def request(is_last: bool) -> None:
            async with BodyWriter(self._store) as body:
                async with open_page(result) as answer:
                    await check_answer(answer, is_last)
                    await body.add(answer.pieces())
                result.succeed(*await body.store())

        await retry_failures(self._manners, request, tries)
