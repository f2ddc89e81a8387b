"""Ask the Wayback Machine whether it has an address: its availability API and its CDX server, the
list of all captures. Both treat http and https, with `www.` and without, as one."""

from collections.abc import Iterable
from urllib.parse import urlencode, urlsplit

from pydantic import TypeAdapter, ValidationError

from tasks.base import Frozen
from tasks.configuration.secrets import read_address
from tasks.configuration.web import WebSettings
from tasks.extraction.bans import is_on_host
from tasks.extraction.urls import normalise_url
from tasks.secrecy.guard import find_forms
from tasks.web.errors import AddressRefused, FetchError, FetchFailed, PageDeferred, ServiceUnusable
from tasks.web.guard import Guard
from tasks.web.page import FetchResult
from tasks.web.services import RUN_AGAIN, WAYBACK, WaybackSource, parse_answer
from tasks.web.sources import WebSource

SHOWN_CAPTURES = 50
"""The first captures of a page; if all of them are errors, nothing is concluded."""
SANDBOX = "EVERGREEN_SANDBOX"
_FIELDS = ["timestamp", "statuscode"]
_Captures = TypeAdapter(list[list[str]])


class Holdings(Frozen):
    """What the archive says that it has of an address."""

    snapshot: str | None = None
    """The copy that the availability API names."""
    captures: tuple[str, ...] = ()
    """Time and HTTP status of the captures in the CDX server."""
    host_captures: tuple[str, ...] | None = None
    """The same of the whole host; None if it was not asked for."""

    @property
    def has_content(self) -> bool:
        """Whether a capture shows a page, or where it led, and not an error."""
        return any(capture.split()[-1][0] in "23" for capture in self.captures)


class CaptureIndex:
    """Asks the archive, for public addresses only."""

    def __init__(self, settings: WebSettings, wayback: WebSource) -> None:
        assert isinstance(wayback, WaybackSource)
        self._settings = settings
        self._wayback = wayback
        self._cdx = read_address(settings.wayback.cdx_url_env) or settings.wayback.cdx_url

    async def find_known(self, archived: Iterable[str]) -> str:
        """Return the first address that both services find, of those that the archive has.

        archived: asked about before the one of the configuration.

        Raises:
            PageDeferred: it finds none, so it is not believed; or as `find`.
        """
        for address in (*archived, self._settings.existence.known):
            try:
                found = await self.find(address)
            except PageDeferred:
                raise
            except (AddressRefused, FetchFailed):
                continue
            if found.snapshot and found.has_content:
                return address
        words = "does not find an address that it has, so what it lacks says nothing"
        raise PageDeferred(f"{WAYBACK} {words}")

    async def find(self, address: str, *, whole_host: bool = False) -> Holdings:
        """Return what the archive has of an address, also without its tracking parameters.

        whole_host: also what it has of the address's host.

        Raises:
            AddressRefused: it is never named to others.
            FetchFailed: there is no valid answer about this address; PageDeferred: the archive asks
                to be left alone.
            ServiceUnusable: the archive cannot be asked now.
        """
        if why := describe_private(address, self._settings):
            raise AddressRefused(why)
        key = normalise_url(address) or address
        is_tracked = urlsplit(key).query != urlsplit(address).query
        spellings = [address, key] if is_tracked else [address]
        snapshots = [await self._find_snapshot(spelling) for spelling in spellings]
        captures = [
            capture
            for spelling in spellings
            for capture in await self._list_captures(spelling, "exact", SHOWN_CAPTURES)
        ]
        host = urlsplit(address).hostname or ""
        return Holdings(
            snapshot=next(filter(None, snapshots), None),
            captures=tuple(captures),
            host_captures=await self._list_captures(host, "host", 1) if whole_host else None,
        )

    async def _find_snapshot(self, address: str) -> str | None:
        text = await self._ask(self._wayback.base, {"url": address})
        answer = parse_answer(text)
        if not answer.model_fields_set:
            raise FetchFailed(f"{WAYBACK} did not say whether there is a snapshot")
        closest = answer.archived_snapshots.closest
        return closest.url if closest and closest.available else None

    async def _list_captures(self, address: str, match: str, most: int) -> tuple[str, ...]:
        query = {"url": address, "matchType": match, "limit": str(most)}
        text = await self._ask(self._cdx, query | {"output": "json", "fl": ",".join(_FIELDS)})
        try:
            head, *rows = _Captures.validate_json(text) or [_FIELDS]
        except ValidationError:
            raise FetchFailed(f"{WAYBACK} did not say which captures there are") from None
        if head != _FIELDS or not all(len(row) == len(_FIELDS) and all(row) for row in rows):
            raise FetchFailed(f"{WAYBACK} listed captures in a form that is not known")
        return tuple(map(" ".join, rows))

    async def _ask(self, base: str, query: dict[str, str]) -> str:
        asked = FetchResult(source="wayback", asked_url=f"{base}?{urlencode(query)}")
        try:
            return await self._wayback.ask(asked)
        except FetchFailed as error:
            if error.phase == "connecting" and not isinstance(error, PageDeferred):
                raise ServiceUnusable(f"{WAYBACK}: {error}. {RUN_AGAIN}") from None
            raise
        except FetchError as error:  # its own address is not allowed
            raise ServiceUnusable(f"{WAYBACK}: {error}") from None


def describe_private(address: str, settings: WebSettings) -> str | None:
    """Say why an address is never named to others; None if it may be."""
    guard = Guard(settings.allowed)
    try:
        checked = guard.check_url(address)
    except AddressRefused as error:
        return str(error)
    sandbox = urlsplit(read_address(SANDBOX)).hostname
    own = [*settings.existence.own_hosts, *filter(None, [sandbox])]
    if guard.is_exempt(checked.host, checked.port) or is_on_host(address, own):
        return f"{checked.host} is a host of one's own"
    if "@" in urlsplit(address).netloc or any(find_forms(address)):
        return "the address carries a key or a password"
    return None
