"""Ask the Wayback Machine whether it has an address: its availability API and its CDX server, the
list of all captures. Both treat http and https, with `www.` and without, as one."""

from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from tasks.base import Frozen
from tasks.configuration.secrets import read_address
from tasks.configuration.web import WebSettings
from tasks.extraction.bans import is_host_or_subdomain
from tasks.extraction.urls import normalise_url
from tasks.secrecy.guard import find_forms
from tasks.web.errors import AddressRefused, FetchFailed
from tasks.web.guard import Guard
from tasks.web.services import WAYBACK, WaybackSource, parse_answer
from tasks.web.sources import WebSource

SHOWN_CAPTURES = 50
"""The first captures of a page; if all of them are errors, nothing is concluded."""
SANDBOX = "EVERGREEN_SANDBOX"
_FIELDS = ("timestamp", "statuscode")
_Captures = TypeAdapter(list[tuple[str, str]])


class Holdings(Frozen):
    """What the archive says that it has of an address; captures as their time and HTTP status."""

    snapshot: str | None = None
    """The capture that the availability API names."""
    captures: tuple[str, ...] = ()
    """Those in the CDX server."""
    host_captures: tuple[str, ...] | None = None
    """Those of the whole host; None if it was not asked for."""

    @property
    def has_page(self) -> bool:
        """Whether a capture shows a page, or where it led, and not an error."""
        captures = (*self.captures, *filter(None, [self.snapshot]))
        return any(capture.split()[-1][0] in "23" for capture in captures)


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


def describe_private(address: str, settings: WebSettings) -> str | None:
    """Say why an address is never named to others; None if it may be."""
    guard = Guard(settings.allowed)
    try:
        checked = guard.check_url(address)
    except AddressRefused as error:
        return str(error)
    own = [*settings.allowed.hosts, *settings.existence.own_hosts, read_address(SANDBOX)]
    if is_host_or_subdomain(_strip_www(checked.url), [*map(_strip_www, own)]):
        return f"{checked.host} is a host of one's own"
    if "@" in urlsplit(address).netloc or any(find_forms(address)):
        return "the address carries a key or a password"
    return None


def _strip_www(place: str) -> str:
    """Return the host of an address, or of `host:port`, without `www.`."""
    parts = urlsplit(place if "://" in place else f"//{place}")
    return (parts.hostname or "").removeprefix("www.")
