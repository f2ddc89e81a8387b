"""Which pages there are, under which addresses, and which of them may be seen."""

from collections.abc import Sequence
from datetime import date
from typing import Any, Literal
from urllib.parse import urlsplit

import pyarrow as pa

from tasks.base import Frozen
from tasks.extraction.banned import is_below
from tasks.extraction.urls import normalise_url
from tasks.protocols.redirects import addresses
from tasks.sandbox.bans import Ban
from tasks.sandbox.lance import is_one_of, until


class Allowed(Frozen):
    """What a request may see."""

    as_of: date | None = None
    """Pages as of a later day are left out."""
    ban: Ban | None = None
    """What an assignment must not use; with one, encyclopedias are left out too."""


class NotServed(Exception):
    """A page that is not given; says why."""

    def __init__(self, reason: Literal["not_archived", "banned", "later"], message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Catalogue:
    """All pages of an index by their keys, in memory: some 300 bytes each."""

    def __init__(self, pages: pa.Table, *, keep_undated: bool) -> None:
        """pages: url, final_url, day, encyclopedia, copies and _rowid. keep_undated: pages of
        which nobody knows the day count as of any."""
        self._keep_undated = keep_undated
        self.rows: dict[str, int] = {}
        """Key of a page to its row."""
        self._days: dict[str, date | None] = {}
        self._encyclopedias: set[str] = set()
        self._copies: dict[str, list[str]] = {}
        self._leads_to: dict[str, str] = {}
        self._leading_to: dict[str, list[str]] = {}
        self._on_host: dict[str, list[str]] = {}
        self._banned: dict[Ban, frozenset[str]] = {}
        for page in sorted(pages.to_pylist(), key=lambda page: str(page["url"])):
            self._add(page)

    def _add(self, page: dict[str, Any]) -> None:
        url, final_url = page["url"], page["final_url"]
        self.rows[url] = page["_rowid"]
        self._days[url] = page["day"]
        if page["encyclopedia"]:
            self._encyclopedias.add(url)
        for article in page["copies"] or ():
            self._copies.setdefault(article, []).append(url)
        if final_url:
            self._leads_to[url] = final_url
            self._leading_to.setdefault(final_url, []).append(url)
        for host in {urlsplit(place).hostname or "" for place in (url, final_url) if place}:
            self._on_host.setdefault(host, []).append(url)

    @property
    def n_undated(self) -> int:
        """Pages of which nobody knows the day."""
        return sum(day is None for day in self._days.values())

    def n_served(self, allowed: Allowed) -> int:
        """Pages that may be seen."""
        return sum(
            self._is_in_time(url, allowed) and not self._is_banned(url, allowed)
            for url in self.rows
        )

    def banned(self, ban: Ban) -> frozenset[str]:
        """The pages that a ban names, without encyclopedias: its pages and copies of its articles
        with what they lead to, what lies on its hosts, and what leads to any of these."""
        if ban not in self._banned:
            copies = [url for article in ban.articles for url in self._copies.get(article, ())]
            pages = (*ban.pages, *copies)
            named = [each for page in pages for each in addresses(page, self._leads_to)]
            for host, urls in self._on_host.items():
                if is_below(host, ban.hosts):
                    named += urls
            found = self._with_those_leading_to(named) & self.rows.keys()
            self._banned[ban] = frozenset(found - self._encyclopedias)
        return self._banned[ban]

    def _with_those_leading_to(self, pages: Sequence[str]) -> set[str]:
        found: set[str] = set()
        left = [*pages]
        while left:
            page = left.pop()
            if page not in found:
                found.add(page)
                left += self._leading_to.get(page, ())
        return found

    def condition(self, allowed: Allowed) -> str | None:
        """For a search over passages: SQL; None where everything may be seen."""
        parts = []
        if allowed.as_of:
            day = until(allowed.as_of)
            parts.append(f"({day} OR day IS NULL)" if self._keep_undated else day)
        if allowed.ban:
            parts.append("NOT encyclopedia")
            if banned := self.banned(allowed.ban):
                parts.append(f"NOT ({is_one_of('url', sorted(banned))})")
        return " AND ".join(parts) or None

    def served(self, address: str, allowed: Allowed) -> str:
        """The key of the page that an address names, or whose redirects led there.

        Raises:
            NotServed: there is none, or it may not be seen.
        """
        key: str | None = normalise_url(address)
        named: list[str] = [key, *self._leading_to.get(key, ())] if key else []
        pages = [page for page in named if page in self.rows]
        if not pages:
            raise NotServed("not_archived", f"{address[:500]} is not in the archive.")
        may = [page for page in pages if not self._is_banned(page, allowed)]
        if not may:
            raise NotServed("banned", f"{address[:500]} must not be used for this assignment.")
        for page in may:
            if self._is_in_time(page, allowed):
                return page
        raise NotServed("later", f"{address[:500]} is not known to be as old as {allowed.as_of}.")

    def _is_banned(self, page: str, allowed: Allowed) -> bool:
        if allowed.ban is None:
            return False
        return page in self._encyclopedias or page in self.banned(allowed.ban)

    def _is_in_time(self, page: str, allowed: Allowed) -> bool:
        day = self._days[page]
        if allowed.as_of is None:
            return True
        return self._keep_undated if day is None else day <= allowed.as_of
