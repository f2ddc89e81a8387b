"""The Wayback Machine: the snapshot of a page that is nearest to when it was cited.

Source: https://archive.org/help/wayback_api.php. The bytes are those of the page itself, without
what the archive puts into it (`id_` behind the snapshot's time).
"""

import os
import re
from datetime import date
from urllib.parse import urlencode, urlsplit

from pydantic import BaseModel, Field, ValidationError

from tasks.configuration.web import Manners, WaybackMachine
from tasks.warehouse.page_store import PageStore
from tasks.web.bodies import Body, Kept
from tasks.web.errors import Failed, Refused, Unfetched, shown
from tasks.web.guard import Guard, Target
from tasks.web.page import Wanted
from tasks.web.retrying import retrying
from tasks.web.services import check_limits, reachable, reached
from tasks.web.trail import Trail
from tasks.web.visiting import Visitor
from tasks.web.ways import Finding

NAME = "the Wayback Machine"
MOST_BYTES = 1_000_000
"""Of its word on which snapshot there is."""
_SNAPSHOT = re.compile(r"(https?://[^/?#]+/web/\d{14})(/.+)")


class _Snapshot(BaseModel):
    url: str
    available: bool


class _Snapshots(BaseModel):
    closest: _Snapshot | None = None


class _Availability(BaseModel):
    archived_snapshots: _Snapshots = Field(default_factory=_Snapshots)


class Wayback:
    """Asks the Wayback Machine for pages."""

    def __init__(
        self,
        settings: WaybackMachine,
        manners: Manners,
        visitor: Visitor,
        guard: Guard,
        store: PageStore,
    ) -> None:
        named = os.environ.get(settings.url_env, "").strip() if settings.url_env else ""
        self._base = named or settings.url
        self._manners = manners
        self._visitor = visitor
        self._guard = guard
        self._store = store

    async def fetch(self, wanted: Wanted) -> Finding:
        """One page's nearest snapshot; `final_url` names it, with its time.

        Raises:
            ServiceUnusable: it cannot be reached, or wants fewer requests.
            UnwritableWarehouse: the page could not be kept.
        """
        address = wanted.addresses[0] if wanted.addresses else wanted.url
        trail = Trail("wayback", address)
        had: bool | None
        try:
            self._guard.target(address)
            async with reachable(NAME):
                trail.asked = await self._nearest(trail, address, wanted.around)
                kept = await self._kept(trail)
            fetched, had = trail.done("fetched", kept=kept), True
        except Unfetched as error:
            fetched, had = trail.done(error.outcome, error=str(error)), reached(error)
        return Finding(fetched.model_copy(update={"asked_url": address}), had)

    async def _nearest(self, trail: Trail, address: str, around: date | None) -> str:
        """The address of a snapshot's bytes."""
        query = {"url": address} | ({"timestamp": f"{around:%Y%m%d}"} if around else {})
        question = Trail("wayback", f"{self._base}?{urlencode(query)}")
        async for attempt in retrying(self._manners, self._manners.tries):
            with attempt:
                last = attempt.retry_state.attempt_number >= self._manners.tries
                trail.tries += 1
                async with self._visitor.visit(question, most_bytes=MOST_BYTES) as answer:
                    check_limits(NAME, answer, self._manners, last=last)
                    if answer.status != 200:
                        raise Failed(f"{NAME} answered HTTP {answer.status} when asked for it")
                    return _snapshot(await answer.text())
        raise AssertionError("tenacity returns or raises")

    async def _kept(self, trail: Trail) -> Kept:
        archive = self._guard.target(trail.asked).host

        async def stay(target: Target) -> None:
            if target.host != archive:  # the page of today is not what is asked for
                raise Refused(f"the snapshot redirects out of the archive, to {target.host}")

        async for attempt in retrying(self._manners, self._manners.tries):
            with attempt:
                last = attempt.retry_state.attempt_number >= self._manners.tries
                async with Body(self._store) as body:
                    async with self._visitor.visit(trail, permit=stay) as answer:
                        check_limits(NAME, answer, self._manners, last=last)
                        if answer.status != 200:
                            raise Failed(f"its snapshot was answered with HTTP {answer.status}")
                        await body.take(answer.pieces())
                    return await body.keep()
        raise AssertionError("tenacity returns or raises")


def _snapshot(text: str) -> str:
    try:
        closest = _Availability.model_validate_json(text).archived_snapshots.closest
    except ValidationError:
        raise Failed(f"{NAME} said {shown(text, 80)!r}: not which snapshot there is") from None
    if closest is None or not closest.available:
        raise Failed(f"{NAME} has no snapshot of it")
    found = _SNAPSHOT.fullmatch(closest.url)
    if not found:
        raise Failed(f"{NAME} named {shown(closest.url)}, which is no address of a snapshot")
    place, page = found.groups()
    if urlsplit(place).hostname == "web.archive.org":
        place = place.replace("http://", "https://", 1)
    return f"{place}id_{page}"
