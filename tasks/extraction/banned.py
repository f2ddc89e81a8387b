"""What must not be used, as people write it: addresses of pages, and hosts."""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from tasks.base import Frozen
from tasks.extraction.urls import normalise_url, same_page

_HOST = re.compile(r"(?:[\w-]+\.)+[a-z0-9-]+", re.ASCII)


class UnreadableBan(ValueError):
    """An entry names neither a page nor a host; says which, and what is expected."""


class Banned(Frozen):
    """Pages and hosts that must not be used."""

    pages: tuple[str, ...] = ()
    """Their keys."""
    hosts: tuple[str, ...] = ()
    """With all below them, at any port."""

    def names(self, url: str) -> bool:
        """Whether an address is one of these pages, or lies on one of these hosts."""
        key = normalise_url(url)
        on_host = key is not None and on_hosts(key, self.hosts)
        return on_host or any(same_page(url, page) for page in self.pages)


def read_banned(entries: Iterable[str]) -> Banned:
    """What these entries ban, in their order.

    Each is the address of a page, or a host: an address without a path is one. The scheme may be
    missing; where it is there, words may stand before it.

    Raises:
        UnreadableBan: an entry is neither.
    """
    pages, hosts = [], []
    for entry in entries:
        key = _key(entry)
        place = urlsplit(key)
        if place.path:
            pages.append(key)
        else:
            hosts.append(place.hostname or "")
    return Banned(pages=tuple(pages), hosts=tuple(hosts))


def on_hosts(key: str, hosts: Iterable[str]) -> bool:
    """Whether a page lies on one of these hosts, or below it."""
    return is_below(urlsplit(key).hostname or "", hosts)


def is_below(host: str, hosts: Iterable[str]) -> bool:
    """Whether a host is one of these, or below it."""
    return any(host == known or host.endswith(f".{known}") for known in hosts)


def _key(entry: str) -> str:
    *words, address = entry.split() or [""]
    has_scheme = address.lower().startswith(("http://", "https://"))
    key = normalise_url(address if has_scheme else f"https://{address}")
    misread = any("://" in word for word in words) or (words and not has_scheme)
    if key is None or misread or not _HOST.fullmatch(urlsplit(key).hostname or ""):
        raise UnreadableBan(
            f"{entry[:500]!r} is to be banned but cannot be read. Expected one page "
            "(https://example.org/page) or one host (example.org, with all below it), without "
            "spaces and `*`; words may stand before an address. Correct the entry."
        )
    return key
