"""The base of services that fetch pages for us.

If a service refuses us, cannot be reached, or fails for page after page, the pages are not to
blame: the run stops and they stay pending.
"""

import os
from abc import abstractmethod
from collections.abc import Sequence
from datetime import date

from tasks.models.client import parse_retry_after, redact_key
from tasks.web.errors import FetchError, FetchFailed, PageDeferred, ServiceUnusable
from tasks.web.page import FetchResult, PageRequest
from tasks.web.redirects import PageResponse
from tasks.web.retries import format_seconds, is_retryable
from tasks.web.sources import WebSource

RUN_AGAIN = "What was fetched is kept; run the same command again later."
PROBE = PageRequest(url="https://example.com/", addresses=("https://example.com/",))
"""A page that every such service can fetch."""


class ServiceSource(WebSource):
    """Fetches pages from a service."""

    _key: str | None = None

    async def fetch(self, wanted: PageRequest) -> FetchResult:
        """Fetch one page.

        Raises:
            ServiceUnusable: the service cannot be reached, or refuses us.
            UnwritableWarehouse: the page could not be stored.
        """
        address = wanted.addresses[0] if wanted.addresses else wanted.url
        result = FetchResult(source=self.source, asked_url=address)
        try:
            # Nothing is requested there that we refuse here.
            checked = self._follower.guard.check_url(address)
            await self._fetch_copy(result, checked.url, wanted.cited_on)
        except PageDeferred as error:
            result.defer(error)
        except FetchError as error:
            reached = None
            if isinstance(error, FetchFailed):
                if error.phase == "connecting":
                    raise ServiceUnusable(f"{self.name}: {error}. {RUN_AGAIN}") from None
                reached = not error.retryable
            result.fail(error.outcome, redact_key(str(error), self._key), reached)
        result.asked_url = address
        return result

    @abstractmethod
    async def _fetch_copy(self, result: FetchResult, url: str, cited_on: date | None) -> None:
        """Download the service's copy of a page.

        url: the URL of the page, checked and encoded; `result.asked_url` is as it was written,
        until it is set to where the copy is.
        """

    async def is_up(self, answered: Sequence[str]) -> bool:
        """Probe the service with a page that it can fetch."""
        return (await self.fetch(PROBE)).outcome == "fetched"

    def make_outage_error(self, seen: str) -> ServiceUnusable:
        """Return the error for a service that is down."""
        return ServiceUnusable(f"{self.name} failed for every page ({seen}). {RUN_AGAIN}")

    def _check_limits(self, answer: PageResponse, is_last: bool) -> None:
        """Raise an error unless the answer is about the page.

        Raises:
            FetchFailed: the service may answer next time.
            PageDeferred: it wants fewer requests, and waiting has not helped.
        """
        if not is_retryable(answer.status):
            return
        hint = parse_retry_after(answer.headers)
        too_long = hint is not None and hint > self._manners.longest_wait_seconds
        if too_long or (answer.status == 429 and is_last):
            wait = format_seconds(hint) if hint else "a while"
            words = f"{self.name} asks to wait {wait} (HTTP {answer.status})"
            self.throttle.close(answer.host, words, hint or 0)
            raise PageDeferred(words, host=answer.host, hint_seconds=hint)
        raise FetchFailed(
            f"{self.name} answered HTTP {answer.status}",
            host=answer.host,
            retryable=True,
            hint_seconds=hint,
        )


def read_environment(name: str | None) -> str | None:
    """Return an environment variable's value; None if it is unset or blank, or has no name."""
    return os.environ.get(name, "").strip() or None if name else None
