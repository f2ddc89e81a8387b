"""Services that fetch pages for us: the Wayback Machine and Jina Reader.

If a service refuses us, cannot be reached, or fails for page after page, the pages are not to
blame: the run stops and they stay pending.
"""

import json
import os
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any
from urllib.parse import urlencode, urlsplit

from pydantic import BaseModel, ValidationError

from tasks.configuration.secrets import read_address
from tasks.configuration.web import JinaReader, RequestPolicy, WaybackMachine
from tasks.models.client import parse_retry_after, redact_key
from tasks.warehouse.contents import PageStore
from tasks.web.errors import (
    AddressRefused,
    FetchError,
    FetchFailed,
    PageDeferred,
    ServiceUnusable,
    printable,
)
from tasks.web.guard import CheckedUrl
from tasks.web.hosts import format_seconds, is_retryable, retry_failures
from tasks.web.page import FetchResult, PageRequest
from tasks.web.redirects import PageResponse, RedirectFollower
from tasks.web.sources import WebSource

WAYBACK = "the Wayback Machine"
MAX_AVAILABILITY_BYTES = 1_000_000
"""Largest answer of the archive's lists."""
_SNAPSHOT = re.compile(r"(https?://[^/?#]+/web/\d{14})(/.+)")
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


class Snapshot(BaseModel):
    """A capture that the availability API names."""

    url: str
    available: bool
    status: str = "200"


class _Snapshots(BaseModel):
    closest: Snapshot | None = None


class _Availability(BaseModel):
    archived_snapshots: _Snapshots


class WaybackSource(ServiceSource):
    """Fetches pages from the Wayback Machine; `final_url` is the snapshot's URL, with its time.

    It is the one nearest to when the page was cited (archive.org/help/wayback_api.php). `id_` after
    its time asks for the original bytes, without the archive's additions.
    """

    source = "wayback"
    name = WAYBACK

    def __init__(
        self,
        settings: WaybackMachine,
        follower: RedirectFollower,
        manners: RequestPolicy,
        store: PageStore,
    ) -> None:
        super().__init__(follower, manners, store)
        self.base = read_address(settings.url_env) or settings.url

    async def _fetch_copy(self, result: FetchResult, url: str, cited_on: date | None) -> None:
        query = {"url": result.asked_url}
        query |= {"timestamp": f"{cited_on:%Y%m%d}"} if cited_on else {}
        result.asked_url = _parse_snapshot(await self.ask(self.base, query, result))
        archive = self._follower.guard.check_url(result.asked_url).host

        async def check_host(target: CheckedUrl) -> None:
            if target.host != archive:  # today's page is not the snapshot
                raise AddressRefused(f"the snapshot redirects out of the archive, to {target.host}")

        open_page = partial(self._follower.open, check=check_host)
        await self._download(result, open_page, self._check_answer)

    async def ask(
        self, service: str, query: Mapping[str, str], result: FetchResult | None = None
    ) -> str:
        """Return what one of the archive's services answers.

        result: of the page that the tries are for.

        Raises:
            FetchFailed: it does not answer with HTTP 200.
        """
        question = FetchResult(source="wayback", asked_url=f"{service}?{urlencode(query)}")

        async def request(is_last: bool) -> str:
            async with self._follower.open(question, max_bytes=MAX_AVAILABILITY_BYTES) as answer:
                self._check_limits(answer, is_last)
                if answer.status != 200:
                    raise FetchFailed(f"{WAYBACK} answered HTTP {answer.status} when asked for it")
                return await answer.text()

        try:
            return await retry_failures(self._manners, request)
        finally:
            if result:
                result.tries += question.tries

    async def _check_answer(self, answer: PageResponse, is_last: bool) -> None:
        self._check_limits(answer, is_last)
        if answer.status != 200:
            raise FetchFailed(f"its snapshot was answered with HTTP {answer.status}")


def parse_answer(text: str) -> Snapshot | None:
    """Return the snapshot that the availability API names, if any; raise FetchFailed if its answer
    is none."""
    try:
        closest = _Availability.model_validate_json(text).archived_snapshots.closest
    except ValidationError:
        raise FetchFailed(
            f"{WAYBACK} said {printable(text, 80)!r}: not which snapshot there is"
        ) from None
    return closest if closest and closest.available else None


def _parse_snapshot(text: str) -> str:
    """Return the URL of the bytes of the nearest snapshot."""
    closest = parse_answer(text)
    if closest is None:
        raise FetchFailed(f"{WAYBACK} has no snapshot of it")
    found = _SNAPSHOT.fullmatch(closest.url)
    if not found:
        raise FetchFailed(
            f"{WAYBACK} named {printable(closest.url)}, which is no address of a snapshot"
        )
    place, page = found.groups()
    if urlsplit(place).hostname == "web.archive.org":
        place = place.replace("http://", "https://", 1)
    return f"{place}id_{page}"


class JinaSource(ServiceSource):
    """Fetches pages through Jina Reader (jina.ai/reader), which converts them to Markdown. Its
    answers, JSON, are kept as they are.

    Args:
        patience_seconds: time for the first byte of an answer: the service fetches the page first.
    """

    source = "jina"
    name = "Jina Reader"

    def __init__(
        self,
        settings: JinaReader,
        follower: RedirectFollower,
        manners: RequestPolicy,
        store: PageStore,
        patience_seconds: float,
    ) -> None:
        super().__init__(follower, manners, store)
        self._base = read_address(settings.url_env) or settings.url
        self._key = get_jina_key(settings)
        self._key_env = settings.key_env
        self._patience = patience_seconds

    async def fetch(self, wanted: PageRequest) -> FetchResult:
        """Fetch one page. As `ServiceSource.fetch`; Jina's own URL is not where the page is."""
        result = await super().fetch(wanted)
        result.final_url = result.asked_url if result.outcome == "fetched" else None
        return result

    async def _fetch_copy(self, result: FetchResult, url: str, cited_on: date | None) -> None:
        result.asked_url = f"{self._base.rstrip('/')}/{url}"
        headers = {"Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        open_page = partial(
            self._follower.open, headers=headers, max_redirects=0, read_seconds=self._patience
        )
        await self._download(result, open_page, self._check_answer)

    async def _check_answer(self, answer: PageResponse, is_last: bool) -> None:
        """Raise an error unless the answer holds the page."""
        if answer.status == 401:
            has = "does not accept the key in" if self._key else "asks for a key: set"
            raise ServiceUnusable(f"{self.name} {has} {self._key_env} (HTTP 401). {RUN_AGAIN}")
        if answer.status == 402:
            raise ServiceUnusable(
                f"{self.name}: the account has no quota left (HTTP 402). {RUN_AGAIN}"
            )
        self._check_limits(answer, is_last)
        if answer.status != 200:
            message = _format_message(await answer.text())
            raise FetchFailed(
                f"{self.name} could not read the page (HTTP {answer.status}{message})"
            )


def get_jina_key(settings: JinaReader) -> str | None:
    """Return the API key from the environment; None if it is unset or blank, or has no name."""
    name = settings.key_env
    return os.environ.get(name, "").strip() or None if name else None


def _format_message(text: str) -> str:
    """Format the service's error message as the end of a sentence."""
    try:
        body: Any = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(body, dict):
        return ""
    message = body.get("readableMessage") or body.get("message")
    return f": {printable(message)}" if isinstance(message, str) else ""
