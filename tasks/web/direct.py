"""Fetch pages from their own servers, by the URLs that reports wrote, with retries."""

from collections.abc import Sequence
from functools import partial

from tasks.configuration.web import RequestPolicy
from tasks.models.client import parse_retry_after
from tasks.warehouse.contents import PageStore
from tasks.web.errors import (
    AddressRefused,
    BodyTooLarge,
    FetchError,
    FetchFailed,
    NoNetwork,
    NonPublicAddress,
    PageDeferred,
    RobotsDisallowed,
)
from tasks.web.hosts import ASKS_TO_WAIT, format_seconds, is_retryable
from tasks.web.page import FetchResult, PageRequest
from tasks.web.redirects import PageResponse, RedirectFollower, UrlCheck
from tasks.web.sources import WebSource

MAX_SPELLINGS = 3
"""Variants tried of one URL: reports write it with and without `www.`, a slash, tracking."""
NOT_FOUND = frozenset({404, 410})


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
