"""Bans: the pages and hosts that an answer must not use, as people write them."""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from tasks.base import Frozen
from tasks.extraction.urls import is_same_page, look_through, normalise_url

_HOST = re.compile(r"(?:[\w-]+\.)+[a-z0-9-]+", re.ASCII)


class InvalidBan(ValueError):
    """An entry is neither a page nor a host; the message quotes it and says what is expected."""


class BanList(Frozen):
    """Pages and hosts that must not be used."""

    pages: tuple[str, ...] = ()
    """Page keys."""
    hosts: tuple[str, ...] = ()
    """Hosts, including their subdomains, at any port."""

    def matches(self, url: str) -> bool:
        """Whether an address is one of these pages, a copy of one, or on one of these hosts."""
        return is_on_host(url, self.hosts) or any(is_same_page(url, page) for page in self.pages)


def parse_bans(entries: Iterable[str]) -> BanList:
    """Parse ban entries, keeping their order.

    Each is a page's address or a host (also as an address without a path). The scheme may be
    missing; an address with a scheme may follow other words.

    Raises:
        InvalidBan: an entry is neither.
    """
    pages, hosts = [], []
    for entry in entries:
        key = _parse_key(entry)
        place = urlsplit(key)
        if place.path:
            pages.append(key)
        else:
            hosts.append(place.hostname or "")
    return BanList(pages=tuple(pages), hosts=tuple(hosts))


def is_on_host(url: str, hosts: Iterable[str]) -> bool:
    """Whether a page, or one that it is a copy of, is on one of these hosts or their subdomains."""
    hosts = tuple(hosts)
    keys = filter(None, map(normalise_url, look_through(url)))
    return any(is_host_or_subdomain(urlsplit(key).hostname or "", hosts) for key in keys)


def is_host_or_subdomain(host: str, hosts: Iterable[str]) -> bool:
    """Whether a host is one of these or a subdomain of one."""
    return any(host == known or host.endswith(f".{known}") for known in hosts)


def _parse_key(entry: str) -> str:
    *words, address = entry.split() or [""]
    has_scheme = address.lower().startswith(("http://", "https://"))
    key = normalise_url(address if has_scheme else f"https://{address}")
    misread = any("://" in word for word in words) or (words and not has_scheme)
    if key is None or misread or not _HOST.fullmatch(urlsplit(key).hostname or ""):
        raise InvalidBan(
            f"{entry[:500]!r} is to be banned but cannot be read. Expected one page "
            "(https://example.org/page) or one host (example.org, with all below it), without "
            "spaces and `*`; words may stand before an address. Correct the entry."
        )
    return key
