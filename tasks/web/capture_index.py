"""Ask the Wayback Machine whether it has an address: its availability API and its CDX server, the
list of all captures. Both treat http and https, with `www.` and without, as one."""

from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from tasks.configuration.secrets import read_address
from tasks.configuration.web import WebSettings
from tasks.extraction.urls import normalise_url
from tasks.web.errors import FetchFailed
from tasks.web.existence import Holdings
from tasks.web.guard import Guard
from tasks.web.services import WAYBACK, WaybackSource, parse_answer
from tasks.web.sources import WebSource

SHOWN_CAPTURES = 50
"""The first captures of a page; if all of them are errors, nothing is concluded."""
_FIELDS = ("timestamp", "statuscode")
_Captures = TypeAdapter(list[tuple[str, str]])


class CaptureIndex:
    """Asks the archive, for public addresses only."""

    def __init__(self, settings: WebSettings, wayback: WebSource) -> None:
        assert isinstance(wayback, WaybackSource)
        self._known = settings.existence.known
        self._guard = Guard(settings.allowed)
        self._wayback = wayback
        self._cdx = read_address(settings.wayback.cdx_url_env) or settings.wayback.cdx_url

    async def find_known(self) -> str:
        """Return the address of the configuration that the archive has, if both services find it.

        Raises:
            FetchFailed: they do not, so the archive is not believed.
        """
        found = await self.find(self._known)
        if not (found.snapshot and found.captures and found.has_page):
            words = f"does not find {self._known}, which it has, so what it lacks says nothing"
            raise FetchFailed(f"{WAYBACK} {words}")
        return self._known

    async def find(self, address: str, *, whole_host: bool = False) -> Holdings:
        """Return what the archive has of an address, also without its tracking parameters.

        whole_host: also what it has of the address's host.

        Raises:
            AddressRefused: the address is not public.
            FetchFailed: there is no valid answer; PageDeferred: the archive asks to be left alone.
        """
        asked, key = self._guard.check_url(address), normalise_url(address) or address
        is_tracked = urlsplit(key).query != urlsplit(asked.url).query
        snapshot: str | None = None
        captures: tuple[str, ...] = ()
        for spelling in (asked.url, key) if is_tracked else (asked.url,):
            snapshot = snapshot or await self._find_snapshot(spelling)
            captures += await self._list_captures(spelling, "exact", SHOWN_CAPTURES)
        host = await self._list_captures(asked.host, "host", 1) if whole_host else None
        return Holdings(snapshot=snapshot, captures=captures, host_captures=host)

    async def _find_snapshot(self, address: str) -> str | None:
        found = parse_answer(await self._wayback.ask(self._wayback.base, {"url": address}))
        return f"{found.url} {found.status}" if found else None

    async def _list_captures(self, address: str, match: str, most: int) -> tuple[str, ...]:
        query = {"url": address, "matchType": match, "limit": str(most)}
        query |= {"output": "json", "fl": ",".join(_FIELDS)}
        text = await self._wayback.ask(self._cdx, query)
        try:
            head, *rows = _Captures.validate_json(text) or [_FIELDS]
        except ValidationError:
            head, rows = ("", ""), []
        if head != _FIELDS:
            raise FetchFailed(f"{WAYBACK} did not say which captures there are")
        return tuple(map(" ".join, rows))
