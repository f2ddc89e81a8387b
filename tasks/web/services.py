"""What asking a service for pages has in common, whichever it is.

A service that refuses us, cannot be reached, or fails for one page after the other says nothing
about the pages: that stops the run, so that they stay open for the next one.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tasks.configuration.web import Manners
from tasks.models.client import retry_after
from tasks.web.errors import Failed, ServiceUnusable, Unfetched, WebStopped
from tasks.web.network import Suspicion
from tasks.web.page import Wanted
from tasks.web.retrying import heals, seconds
from tasks.web.visiting import Answer
from tasks.web.ways import Way

AGAIN = "What was fetched is kept; run the same command again later."


PROBE = Wanted(url="https://example.com/", addresses=("https://example.com/",))
"""A page that every such service has."""


def of_service(service: str, way: Way) -> Suspicion:
    """That the service is out of order. Its failures for pages of one host may be that host's."""

    async def answers(address: str | None) -> bool:
        return (await way.fetch(PROBE)).fetched.outcome == "fetched"

    def stopped(seen: str) -> WebStopped:
        return ServiceUnusable(f"{service} failed for pages of different hosts, {seen}. {AGAIN}")

    return Suspicion(5, answers, stopped)


def reached(error: Unfetched) -> bool | None:
    """Whether the service said something about the page; null where it was not asked."""
    return not error.heals if isinstance(error, Failed) else None


@asynccontextmanager
async def reachable(service: str) -> AsyncIterator[None]:
    """Around the last try of a request to a service.

    Raises:
        ServiceUnusable: it could not be reached.
    """
    try:
        yield
    except Failed as error:
        if error.stage == "connecting":
            raise ServiceUnusable(f"{service}: {error}. {AGAIN}") from None
        raise


def check_limits(service: str, answer: Answer, manners: Manners, *, last: bool) -> None:
    """Do nothing for an answer that is about the page.

    Raises:
        Failed: the service may answer next time.
        ServiceUnusable: it wants fewer requests, and waiting has not helped.
    """
    if not heals(answer.status):
        return
    hint = retry_after(answer.headers)
    too_long = hint is not None and hint > manners.longest_wait_seconds
    if answer.status == 429 and (last or too_long):
        wait = seconds(hint) if hint else "a while"
        raise ServiceUnusable(f"{service} asks to be left alone for {wait} (HTTP 429). {AGAIN}")
    raise Failed(f"{service} answered HTTP {answer.status}", host=answer.host,
                 heals=not too_long, hint_seconds=hint)  # fmt: skip
