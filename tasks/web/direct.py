"""Fetch pages from their own servers, by the URLs that reports wrote, with retries."""

from tasks.configuration.web import RequestPolicy
from tasks.models.client import parse_retry_after
from tasks.warehouse.page_store import PageStore
from tasks.web.bodies import BodyWriter, StoredBody
from tasks.web.errors import (
    AddressRefused,
    BodyTooLarge,
    FetchError,
    FetchFailed,
    PageDeferred,
    RobotsDisallowed,
)
from tasks.web.fetch_record import FetchRecord
from tasks.web.hosts import HostThrottle
from tasks.web.page import PageRequest
from tasks.web.redirects import PageResponse, RedirectFollower, UrlCheck
from tasks.web.retries import ASKS_TO_WAIT, format_seconds, is_retryable, retry_failures
from tasks.web.sources import SourceResult

MAX_SPELLINGS = 3
"""Variants tried of one URL: reports write it with and without `www.`, a slash, tracking."""
NOT_FOUND = frozenset({404, 410})


class DirectSource:
    """Fetches pages from their own servers."""

    def __init__(
        self,
        follower: RedirectFollower,
        throttle: HostThrottle,
        manners: RequestPolicy,
        store: PageStore,
        check: UrlCheck,
    ) -> None:
        self._follower = follower
        self._throttle = throttle
        self._manners = manners
        self._store = store
        self._check = check

    async def fetch(self, wanted: PageRequest) -> SourceResult:
        """Fetch one page. Any complete answer counts, whatever its status: the reader judges it.

        If a spelling of the URL is refused, fails in all tries or is not found, the next one is
        tried; the first one's error is reported.

        Raises:
            PageDeferred: the page can be fetched in a later run only.
            UnwritableWarehouse: the page could not be stored.
        """
        record = FetchRecord("direct", wanted.url)
        spellings = list(dict.fromkeys(wanted.addresses))[:MAX_SPELLINGS] or [wanted.url]
        first: SourceResult | None = None
        deferred: PageDeferred | None = None
        for number, address in enumerate(spellings, 1):
            record.asked_url = address
            try:
                body = await self._store_body(record, another=number < len(spellings))
            except PageDeferred as error:
                deferred = error
            except FetchError as error:
                if isinstance(error, FetchFailed) and error.phase != "answering":
                    self._throttle.add_unanswered(wanted.url, error)
                found = SourceResult(
                    record.to_result(error.outcome, error=str(error)), _was_reached(error)
                )
                if first is None or first.fetched.outcome == "refused":
                    first = found
                if isinstance(error, RobotsDisallowed | BodyTooLarge):
                    break
            else:
                assert record.answered_at is not None
                return SourceResult(
                    record.to_result("fetched", body=body), True, record.answered_at
                )
        if deferred:
            raise deferred
        assert first is not None
        totals = {"tries": record.tries, "seconds": found.fetched.seconds}
        return SourceResult(first.fetched.model_copy(update=totals), first.reached, first.at)

    async def _store_body(self, record: FetchRecord, *, another: bool) -> StoredBody:
        """Store the body of the first answer that counts.

        another: whether there is another spelling to try.
        """
        left = max(1, self._manners.tries - record.tries)
        async for attempt in retry_failures(self._manners, left):
            with attempt:
                last = attempt.retry_state.attempt_number >= left
                async with BodyWriter(self._store) as body:
                    async with self._follower.open(record, check=self._check) as answer:
                        self._check_answer(answer, last, another)
                        await body.add(answer.pieces())
                    return await body.store()
        raise AssertionError("tenacity returns or raises")

    def _check_answer(self, answer: PageResponse, last: bool, another: bool) -> None:
        """Raise FetchFailed for an answer that is not accepted, since a better one may come."""
        status, host = answer.status, answer.host
        if status in NOT_FOUND and another:
            raise FetchFailed(f"{host} answered HTTP {status}", host=host)
        if not is_retryable(status):
            return
        hint = parse_retry_after(answer.headers)
        if hint is not None and hint > self._manners.longest_wait_seconds:
            words = f"{host} asks to wait {format_seconds(hint)} (HTTP {status})"
            self._throttle.close(host, words)
            return
        if status == 429 or (status in ASKS_TO_WAIT and hint):
            self._throttle.delay(host, hint or self._manners.first_wait_seconds)
        if not last:
            raise FetchFailed(
                f"{host} answered HTTP {status}", host=host, retryable=True, hint_seconds=hint
            )


def _was_reached(error: FetchError) -> bool | None:
    if isinstance(error, FetchFailed):
        return {"connecting": False, "waiting": None, "answering": True}[error.phase]
    return None if isinstance(error, AddressRefused | RobotsDisallowed) else True
