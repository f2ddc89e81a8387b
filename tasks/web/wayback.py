"""Fetch pages from the Wayback Machine: the snapshot nearest to when the page was cited.

Source: https://archive.org/help/wayback_api.php. `id_` after the snapshot's time asks for the
original bytes, without the archive's additions.
"""

import re
from datetime import date
from functools import partial
from urllib.parse import urlencode, urlsplit

from pydantic import BaseModel, Field, ValidationError

from tasks.configuration.secrets import read_address
from tasks.configuration.web import RequestPolicy, WaybackMachine
from tasks.warehouse.contents import PageStore
from tasks.web.errors import AddressRefused, FetchFailed, printable
from tasks.web.guard import CheckedUrl
from tasks.web.page import FetchResult
from tasks.web.redirects import PageResponse, RedirectFollower
from tasks.web.retries import retry_failures
from tasks.web.services import ServiceSource

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


class WaybackSource(ServiceSource):
    """Fetches pages from the Wayback Machine; `final_url` is the snapshot's URL, with its time."""

    source = "wayback"
    name = NAME

    def __init__(
        self,
        settings: WaybackMachine,
        follower: RedirectFollower,
        manners: RequestPolicy,
        store: PageStore,
    ) -> None:
        super().__init__(follower, manners, store)
        self._base = read_address(settings.url_env) or settings.url

    async def _fetch_copy(self, result: FetchResult, url: str, cited_on: date | None) -> None:
        result.asked_url = await self._find_snapshot(result, cited_on)
        archive = self._follower.guard.check_url(result.asked_url).host

        async def check_host(target: CheckedUrl) -> None:
            if target.host != archive:  # today's page is not the snapshot
                raise AddressRefused(f"the snapshot redirects out of the archive, to {target.host}")

        open_page = partial(self._follower.open, check=check_host)
        await self._download(result, open_page, self._check_answer)

    async def _find_snapshot(self, result: FetchResult, cited_on: date | None) -> str:
        """Find the nearest snapshot and return the URL of its bytes."""
        query = {"url": result.asked_url}
        query |= {"timestamp": f"{cited_on:%Y%m%d}"} if cited_on else {}
        question = FetchResult(source="wayback", asked_url=f"{self._base}?{urlencode(query)}")

        async def ask(is_last: bool) -> str:
            result.tries += 1
            async with self._follower.open(question, max_bytes=MAX_AVAILABILITY_BYTES) as answer:
                self._check_limits(answer, is_last)
                if answer.status != 200:
                    raise FetchFailed(f"{NAME} answered HTTP {answer.status} when asked for it")
                return _parse_snapshot(await answer.text())

        return await retry_failures(self._manners, ask)

    async def _check_answer(self, answer: PageResponse, is_last: bool) -> None:
        self._check_limits(answer, is_last)
        if answer.status != 200:
            raise FetchFailed(f"its snapshot was answered with HTTP {answer.status}")


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
