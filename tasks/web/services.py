"""What asking a service for pages has in common, whichever it is.

A service that refuses us or cannot be reached says nothing about the page: that stops the run,
so that its pages stay open for the next one.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tasks.configuration.web import Manners
from tasks.models.client import retry_after
from tasks.web.errors import Failed, ServiceUnusable
from tasks.web.retrying import heals, seconds
from tasks.web.visiting import Answer

AGAIN = "What was fetched is kept; run the same command again later."


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
