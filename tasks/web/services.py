"""Shared error handling of the services that fetch pages for us.

If a service refuses us, cannot be reached, or fails for page after page, the pages are not to
blame: the run stops and they stay pending.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tasks.configuration.web import RequestPolicy
from tasks.models.client import parse_retry_after
from tasks.web.errors import FetchError, FetchFailed, FetchingStopped, ServiceUnusable
from tasks.web.outages import OutageCheck
from tasks.web.page import PageRequest
from tasks.web.redirects import PageResponse
from tasks.web.retries import format_seconds, is_retryable
from tasks.web.sources import WebSource

RUN_AGAIN = "What was fetched is kept; run the same command again later."


PROBE = PageRequest(url="https://example.com/", addresses=("https://example.com/",))
"""A page that every such service can fetch."""


def make_service_check(service: str, source: WebSource) -> OutageCheck:
    """Return the check for a service being down.

    It counts hosts, since failures for pages of one host may be that host's fault.
    """

    async def is_up(address: str | None) -> bool:
        return (await source.fetch(PROBE)).fetched.outcome == "fetched"

    def make_error(seen: str) -> FetchingStopped:
        return ServiceUnusable(
            f"{service} failed for pages of different hosts, {seen}. {RUN_AGAIN}"
        )

    return OutageCheck(5, is_up, make_error)


def was_reached(error: FetchError) -> bool | None:
    """Return whether the service answered about the page; None if it was not asked."""
    return not error.retryable if isinstance(error, FetchFailed) else None


@asynccontextmanager
async def require_service(service: str) -> AsyncIterator[None]:
    """Turn a failure to connect to a service, after all tries, into ServiceUnusable.

    Raises:
        ServiceUnusable: the service could not be reached.
    """
    try:
        yield
    except FetchFailed as error:
        if error.phase == "connecting":
            raise ServiceUnusable(f"{service}: {error}. {RUN_AGAIN}") from None
        raise


def check_limits(service: str, answer: PageResponse, manners: RequestPolicy, *, last: bool) -> None:
    """Raise an error unless the answer is about the page.

    Raises:
        FetchFailed: the service may answer next time.
        ServiceUnusable: it wants fewer requests, and waiting has not helped.
    """
    if not is_retryable(answer.status):
        return
    hint = parse_retry_after(answer.headers)
    too_long = hint is not None and hint > manners.longest_wait_seconds
    if answer.status == 429 and (last or too_long):
        wait = format_seconds(hint) if hint else "a while"
        raise ServiceUnusable(f"{service} asks to wait {wait} (HTTP 429). {RUN_AGAIN}")
    raise FetchFailed(
        f"{service} answered HTTP {answer.status}", host=answer.host, retryable=not too_long,
        hint_seconds=hint,
    )  # fmt: skip
