"""Fetch pages from their own servers, by the URLs that reports wrote, with retries; obey robots.txt
(RFC 9309), if configured."""

import asyncio
from collections.abc import Sequence
from functools import partial
from urllib.parse import urlsplit

from protego import Protego

from tasks.configuration.web import RequestPolicy
from tasks.models.client import parse_retry_after
from tasks.warehouse.contents import PageStore
from tasks.web.errors import (
    NOT_FOUND,
    AddressRefused,
    BodyTooLarge,
    FetchError,
    FetchFailed,
    NoNetwork,
    NonPublicAddress,
    PageDeferred,
    RobotsDisallowed,
)
from tasks.web.guard import CheckedUrl
from tasks.web.hosts import ASKS_TO_WAIT, format_seconds, is_retryable, retry_failures
from tasks.web.page import FetchResult, PageRequest
from tasks.web.redirects import PageResponse, RedirectFollower, UrlCheck
from tasks.web.sources import WebSource

PRODUCT = "EvergreenBench"
"""Our product token in a robots.txt."""
MAX_ROBOTS_BYTES = 512_000
"""RFC 9309 demands at least 500 KiB; a longer file counts as unreadable."""
MAX_ROBOTS_REDIRECTS = 5
MAX_SPELLINGS = 3
"""Variants tried of one URL: reports write it with and without `www.`, a slash, tracking."""


class DirectSource(WebSource):
    """Fetches pages from their own servers.

    Args:
        check: called before each request to a page.
    """

    source = "direct"

    def __init__(
        self,
        follower: RedirectFollower,
        manners: RequestPolicy,
        store: PageStore,
        check: UrlCheck,
    ) -> None:
        super().__init__(follower, manners, store)
        self._open = partial(follower.open, check=check)

    async def fetch(self, wanted: PageRequest) -> FetchResult:
        """Fetch one page. Any complete answer counts, whatever its status: the reader judges it.

        If a spelling of the URL is refused, fails in all tries or is not found, the next one is
        tried; the first one's error is reported. Deferred if its host is busy.

        Raises:
            UnwritableWarehouse: the page could not be stored.
        """
        result = FetchResult(
            source=self.source, asked_url=wanted.url, is_last_look=wanted.is_last_look
        )
        spellings = list(dict.fromkeys(wanted.addresses))[:MAX_SPELLINGS] or [wanted.url]
        first: FetchResult | None = None
        deferred: FetchResult | None = None
        for number, address in enumerate(spellings, 1):
            result.asked_url = address
            check_answer = partial(self._check_answer, has_more=number < len(spellings))
            left = max(1, self._manners.tries - result.tries)
            try:
                await self._download(result, self._open, check_answer, left)
                return result
            except PageDeferred as error:
                deferred = deferred or result.model_copy()
                deferred.defer(error)
            except FetchError as error:
                if isinstance(error, FetchFailed) and error.phase != "answering":
                    self.throttle.add_unanswered(wanted.url, error)
                result.fail(error.outcome, str(error), _was_reached(error))
                if first is None or first.outcome == "refused":
                    first = result.model_copy()
                if isinstance(error, RobotsDisallowed | BodyTooLarge):
                    break
        found = deferred or first
        assert found is not None
        found.tries, found.seconds = result.tries, max(found.seconds, result.seconds)
        return found

    async def is_up(self, answered: Sequence[str]) -> bool:
        """Return whether a server that answered before answers now."""
        for url in answered:
            if await self._follower.is_reachable(url):
                return True
        return False

    def make_outage_error(self, seen: str) -> NoNetwork:
        """Return the error for this machine being offline."""
        return NoNetwork(
            f"No host could be reached ({seen}). Is this machine online? These pages stay "
            "pending; run the same command again when it is."
        )

    async def _check_answer(self, answer: PageResponse, is_last: bool, *, has_more: bool) -> None:
        """Raise FetchFailed for an answer that is not accepted, since a better one may come.

        has_more: whether there is another spelling to try.
        """
        status, host = answer.status, answer.host
        if status in NOT_FOUND and has_more:
            raise FetchFailed(f"{host} answered HTTP {status}", host=host)
        if not is_retryable(status):
            return
        hint = parse_retry_after(answer.headers)
        if hint is not None and hint > self._manners.longest_wait_seconds:
            words = f"{host} asks to wait {format_seconds(hint)} (HTTP {status})"
            self.throttle.close(host, words, hint)
            return
        if status == 429 or (status in ASKS_TO_WAIT and hint):
            self.throttle.delay(host, hint or self._manners.first_wait_seconds)
        if not is_last:
            raise FetchFailed(
                f"{host} answered HTTP {status}", host=host, retryable=True, hint_seconds=hint
            )


def _was_reached(error: FetchError) -> bool | None:
    if isinstance(error, FetchFailed):
        # Either side may have cut an answer off.
        answered = None if error.retryable else True
        return {"connecting": False, "waiting": None, "answering": answered}[error.phase]
    if isinstance(error, NonPublicAddress):
        return False
    return None if isinstance(error, AddressRefused | RobotsDisallowed) else True


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
            unreached = isinstance(error, FetchFailed) and error.phase != "answering"
            if unreached or isinstance(error, PageDeferred):
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
