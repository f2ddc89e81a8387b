"""What an archive has of a cited address, and which addresses are never named to it."""

from urllib.parse import urlsplit

from tasks.base import Frozen
from tasks.configuration.secrets import read_address
from tasks.configuration.web import WebSettings
from tasks.extraction.bans import is_host_or_subdomain
from tasks.masking import find_forms
from tasks.web.errors import AddressRefused
from tasks.web.guard import Guard

SANDBOX = "EVERGREEN_SANDBOX"


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
