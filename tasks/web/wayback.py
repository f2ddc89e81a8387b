"""Fetch pages from the Wayback Machine: the snapshot nearest to when the page was cited.

Source: https://archive.org/help/wayback_api.php. `id_` after the snapshot's time asks for the
original bytes, without the archive's additions.
"""

import os
import re
from datetime import date
from urllib.parse import urlencode, urlsplit

from pydantic import BaseModel, Field, ValidationError

from tasks.configuration.web import RequestPolicy, WaybackMachine
from tasks.warehouse.page_store import PageStore
from tasks.web.bodies import BodyWriter, StoredBody
from tasks.web.errors import AddressRefused, FetchError, FetchFailed, printable
from tasks.web.fetch_record import FetchRecord
from tasks.web.guard import CheckedUrl, Guard
from tasks.web.page import PageRequest
from tasks.web.redirects import RedirectFollower
from tasks.web.retries import retry_failures
from tasks.web.services import check_limits, require_service, was_reached
from tasks.web.sources import SourceResult

NAME = "the Wayback Machine"
MAX_AVAILABILITY_BYTES = 1_000_000
"""Largest answer of the availability API."""
_SNAPSHOT = re.compile(r"(https?://[^/?#]+/web/\d{14})(/.+)")


class _Snapshot(BaseModel):
    url: str
    available: bool


class _Snapshots(BaseModel):
    closest: _Snapshot | None = None


class _Availability(BaseModel):
    archived_snapshots: _Snapshots = Field(default_factory=_Snapshots)


class WaybackSource:
    """Fetches pages from the Wayback Machine."""

    def __init__(
        self,
        settings: WaybackMachine,
        manners: RequestPolicy,
        follower: RedirectFollower,
        guard: Guard,
        store: PageStore,
    ) -> None:
        configured = os.environ.get(settings.url_env, "").strip() if settings.url_env else ""
        self._base = configured or settings.url
        self._manners = manners
        self._follower = follower
        self._guard = guard
        self._store = store

    async def fetch(self, wanted: PageRequest) -> SourceResult:
        """Fetch a page's nearest snapshot; `final_url` is the snapshot's URL, with its time.

        Raises:
            ServiceUnusable: it cannot be reached, or wants fewer requests.
            UnwritableWarehouse: the page could not be stored.
        """
        address = wanted.addresses[0] if wanted.addresses else wanted.url
        record = FetchRecord("wayback", address)
        reached: bool | None
        try:
            self._guard.check_url(address)
            async with require_service(NAME):
                record.asked_url = await self._find_snapshot(record, address, wanted.cited_on)
                body = await self._store_body(record)
            fetched, reached = record.to_result("fetched", body=body), True
        except FetchError as error:
            fetched, reached = record.to_result(error.outcome, error=str(error)), was_reached(error)
        return SourceResult(fetched.model_copy(update={"asked_url": address}), reached)

    async def _find_snapshot(self, record: FetchRecord, address: str, cited_on: date | None) -> str:
        """Find the nearest snapshot and return the URL of its bytes."""
        query = {"url": address} | ({"timestamp": f"{cited_on:%Y%m%d}"} if cited_on else {})
        question = FetchRecord("wayback", f"{self._base}?{urlencode(query)}")
        async for attempt in retry_failures(self._manners, self._manners.tries):
            with attempt:
                last = attempt.retry_state.attempt_number >= self._manners.tries
                record.tries += 1
                async with self._follower.open(
                    question, max_bytes=MAX_AVAILABILITY_BYTES
                ) as answer:
                    check_limits(NAME, answer, self._manners, last=last)
                    if answer.status != 200:
                        raise FetchFailed(f"{NAME} answered HTTP {answer.status} when asked for it")
                    return _parse_snapshot(await answer.text())
        raise AssertionError("tenacity returns or raises")

    async def _store_body(self, record: FetchRecord) -> StoredBody:
        archive = self._guard.check_url(record.asked_url).host

        async def check_host(target: CheckedUrl) -> None:
            if target.host != archive:  # today's page is not the snapshot
                raise AddressRefused(f"the snapshot redirects out of the archive, to {target.host}")

        async for attempt in retry_failures(self._manners, self._manners.tries):
            with attempt:
                last = attempt.retry_state.attempt_number >= self._manners.tries
                async with BodyWriter(self._store) as body:
                    async with self._follower.open(record, check=check_host) as answer:
                        check_limits(NAME, answer, self._manners, last=last)
                        if answer.status != 200:
                            raise FetchFailed(
                                f"its snapshot was answered with HTTP {answer.status}"
                            )
                        await body.add(answer.pieces())
                    return await body.store()
        raise AssertionError("tenacity returns or raises")


def _parse_snapshot(text: str) -> str:
    try:
        closest = _Availability.model_validate_json(text).archived_snapshots.closest
    except ValidationError:
        raise FetchFailed(
            f"{NAME} said {printable(text, 80)!r}: not which snapshot there is"
        ) from None
    if closest is None or not closest.available:
        raise FetchFailed(f"{NAME} has no snapshot of it")
    found = _SNAPSHOT.fullmatch(closest.url)
    if not found:
        raise FetchFailed(
            f"{NAME} named {printable(closest.url)}, which is no address of a snapshot"
        )
    place, page = found.groups()
    if urlsplit(place).hostname == "web.archive.org":
        place = place.replace("http://", "https://", 1)
    return f"{place}id_{page}"
