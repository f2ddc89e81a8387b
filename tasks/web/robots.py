"""Obey robots.txt (RFC 9309), if configured."""

import asyncio
from urllib.parse import urlsplit

from protego import Protego

from tasks.configuration.web import RequestPolicy
from tasks.models.client import parse_retry_after
from tasks.web.errors import FetchError, FetchFailed, PageDeferred, RobotsDisallowed
from tasks.web.guard import CheckedUrl
from tasks.web.hosts import format_seconds, is_retryable, retry_failures
from tasks.web.page import FetchResult
from tasks.web.redirects import RedirectFollower

PRODUCT = "EvergreenBench"
"""Our product token in a robots.txt."""
MAX_ROBOTS_BYTES = 512_000
"""RFC 9309 demands at least 500 KiB; a longer file counts as unreadable."""
MAX_ROBOTS_REDIRECTS = 5


class RobotsRules:
    """Fetches each site's robots.txt once, with retries, and applies its rules."""

    def __init__(self, follower: RedirectFollower, manners: RequestPolicy) -> None:
        self._follower = follower
        self._manners = manners
        self._rules: dict[str, asyncio.Task[Protego | None]] = {}

    async def check_url(self, target: CheckedUrl) -> None:
        """Raise an error unless the site allows the URL.

        Raises:
            RobotsDisallowed: the site forbids it, or its robots.txt cannot be fetched.
        """
        parts = urlsplit(target.url)
        site = f"{parts.scheme}://{parts.netloc}"
        if site not in self._rules:
            self._rules[site] = asyncio.create_task(self._load_rules(site))
        rules = await asyncio.shield(self._rules[site])
        if rules is None:
            raise RobotsDisallowed(f"{site}/robots.txt cannot be had, which forbids all")
        if not rules.can_fetch(target.url, PRODUCT):
            raise RobotsDisallowed(f"{site}/robots.txt forbids {parts.path[:200]}")

    async def close(self) -> None:
        """Cancel the requests under way."""
        for task in self._rules.values():
            task.cancel()
        await asyncio.gather(*self._rules.values(), return_exceptions=True)

    async def _load_rules(self, site: str) -> Protego | None:
        """Load a site's rules; None if they cannot be fetched, which forbids everything."""
        result = FetchResult(source="direct", asked_url=f"{site}/robots.txt")
        try:
            return await retry_failures(self._manners, lambda is_last: self._fetch_rules(result))
        except FetchError as error:
            # The site's pages then fail in the same way, and say so themselves.
            if isinstance(error, PageDeferred) or _is_unreachable(error):
                del self._rules[site]
                raise
        return None

    async def _fetch_rules(self, result: FetchResult) -> Protego:
        async with self._follower.open(
            result, max_redirects=MAX_ROBOTS_REDIRECTS, max_bytes=MAX_ROBOTS_BYTES
        ) as answer:
            hint = parse_retry_after(answer.headers) or 0.0
            if is_retryable(answer.status) and hint > self._manners.longest_wait_seconds:
                words = f"{answer.host} asks to wait {format_seconds(hint)} (robots.txt)"
                self._follower.throttle.close(answer.host, words, hint)
                raise PageDeferred(words, host=answer.host, hint_seconds=hint)
            if 400 <= answer.status < 500:
                return Protego.parse("")
            if answer.status < 300:
                return Protego.parse(await answer.text())
            raise FetchFailed(
                f"{answer.host} answered HTTP {answer.status}",
                host=answer.host,
                retryable=is_retryable(answer.status),
                hint_seconds=hint,
            )


def _is_unreachable(error: FetchError) -> bool:
    return isinstance(error, FetchFailed) and error.phase != "answering"
