"""The catalogue of all pages in an index: their URLs, which of them a request may see, and which
nobody may: encyclopedias, copies of an edition's articles, and what its ground truths ban."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any, Literal
from urllib.parse import urlsplit

from tasks.base import Frozen
from tasks.extraction.bans import BanList, is_host_or_subdomain
from tasks.extraction.urls import look_through, normalise_url
from tasks.protocols.redirects import redirect_chain
from tasks.sandbox.lance import sql_in
from tasks.warehouse.rows import content_sha

_WORD = re.compile(r"[^\W_]+")


class Ban(BanList):
    """What the assignments of an edition ban, in addition to encyclopedias."""

    articles: tuple[str, ...] = ()
    """Articles whose copies are banned."""


class CopyDetector:
    """A detector of pages that consist largely of one of the articles, or contain most of one.

    It compares word n-grams, with the bounds in `configs/inversion.yaml`.
    """

    def __init__(self, articles: Mapping[str, str], n_words: int, share: float) -> None:
        """articles: name to text. n_words: the n of the n-grams. share: the minimum share of
        common n-grams in the smaller of the two texts, 0-1."""
        self._n = n_words
        self._share = share
        self._sizes: dict[str, int] = {}
        self._articles: dict[int, list[str]] = {}
        for name in sorted(articles):
            ngrams = self._ngrams(articles[name])
            self._sizes[name] = len(ngrams)
            for ngram in ngrams:
                self._articles.setdefault(ngram, []).append(name)
        self.sha = content_sha(
            str(n_words), str(share), *(part for pair in sorted(articles.items()) for part in pair)
        )

    def find_articles(self, text: str) -> list[str]:
        """Return the sorted names of the articles that a text copies."""
        if not self._articles:
            return []
        ngrams = self._ngrams(text)
        common = Counter(
            name for ngram in ngrams & self._articles.keys() for name in self._articles[ngram]
        )
        return sorted(
            name
            for name, n in common.items()
            if n >= self._share * min(len(ngrams), self._sizes[name])
        )

    def _ngrams(self, text: str) -> set[int]:
        words: Sequence[str] = _WORD.findall(text.lower())
        return {hash(ngram) for ngram in zip(*(words[i:] for i in range(self._n)), strict=False)}


class PageFilter(Frozen):
    """Which pages a request may see."""

    as_of: date | None = None
    """Pages of later days are left out."""
    ban: Ban | None = None
    """What nobody may use; with a ban, encyclopedias are left out too."""


RefusalReason = Literal["not_archived", "banned", "later", "unknown_assignment"]


class NotServed(Exception):
    """A page or an assignment is not served; the message says why."""

    def __init__(self, reason: RefusalReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Catalogue:
    """All pages of an index by key, in memory: some 300 bytes each."""

    def __init__(self, pages: Iterable[dict[str, Any]], *, keep_undated: bool) -> None:
        """pages: url, final_url, day, encyclopedia, copies and _rowid of each. keep_undated:
        whether pages without a day pass every `as_of`."""
        self._keep_undated = keep_undated
        self.rows: dict[str, int] = {}
        """Page key to row id."""
        self._days: dict[str, date | None] = {}
        self._encyclopedias: set[str] = set()
        self._copies: dict[str, list[str]] = {}
        self._redirects: dict[str, str] = {}
        self._redirected_from: dict[str, list[str]] = {}
        self._copies_of: dict[str, list[str]] = {}
        """Page key to archived copies and translations of that page."""
        self._on_host: dict[str, list[str]] = {}
        self._banned: dict[Ban, frozenset[str]] = {}
        for page in sorted(pages, key=lambda page: str(page["url"])):
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
            self._redirects[url] = final_url
            self._redirected_from.setdefault(final_url, []).append(url)
        places = [each for place in (url, final_url) if place for each in look_through(place)]
        for original in {normalise_url(place) for place in places} - {None, url, final_url}:
            self._copies_of.setdefault(str(original), []).append(url)
        for host in {urlsplit(place).hostname or "" for place in places}:
            self._on_host.setdefault(host, []).append(url)

    @property
    def n_undated(self) -> int:
        """The number of pages without a day."""
        return sum(day is None for day in self._days.values())

    def find_served(self, page_filter: PageFilter) -> frozenset[str]:
        """Find the pages that pass a filter."""
        return frozenset(
            url
            for url in self.rows
            if self._is_in_time(url, page_filter) and not self._is_banned(url, page_filter)
        )

    def find_banned(self, ban: Ban) -> frozenset[str]:
        """Find the pages of a ban, except those marked as encyclopedias: its pages and copies of
        its articles with their redirect targets, the pages on its hosts, and all pages that
        redirect to these or to an encyclopedia, or whose address says that they are copies."""
        if ban not in self._banned:
            copies = [url for article in ban.articles for url in self._copies.get(article, ())]
            pages = (*ban.pages, *copies)
            banned = [each for page in pages for each in redirect_chain(page, self._redirects)]
            for host, urls in self._on_host.items():
                if is_host_or_subdomain(host, ban.hosts):
                    banned += urls
            found = self._add_redirecting([*banned, *self._encyclopedias]) & self.rows.keys()
            self._banned[ban] = frozenset(found - self._encyclopedias)
        return self._banned[ban]

    def _add_redirecting(self, pages: Sequence[str]) -> set[str]:
        found: set[str] = set()
        left = [*pages]
        while left:
            page = left.pop()
            if page not in found:
                found.add(page)
                left += [*self._redirected_from.get(page, ()), *self._copies_of.get(page, ())]
        return found

    def sql_condition(self, page_filter: PageFilter) -> str | None:
        """Return a filter as an SQL condition on passages; None if all pages pass."""
        parts = []
        if page_filter.as_of:
            day = f"day <= date '{page_filter.as_of.isoformat()}'"
            parts.append(f"({day} OR day IS NULL)" if self._keep_undated else day)
        if page_filter.ban:
            parts.append("NOT encyclopedia")
            if banned := self.find_banned(page_filter.ban):
                parts.append(f"NOT ({sql_in('url', sorted(banned))})")
        return " AND ".join(parts) or None

    def find_page(self, address: str, page_filter: PageFilter) -> str:
        """Return the key of the page at an address, or of one that redirects there.

        Raises:
            NotServed: there is no such page, or it does not pass the filter.
        """
        key: str | None = normalise_url(address)
        candidates: list[str] = [key, *self._redirected_from.get(key, ())] if key else []
        pages = [page for page in candidates if page in self.rows]
        if not pages:
            raise NotServed("not_archived", f"{address[:500]} is not in the archive.")
        permitted = [page for page in pages if not self._is_banned(page, page_filter)]
        if not permitted:
            raise NotServed("banned", f"{address[:500]} is banned by an assignment of the edition.")
        for page in permitted:
            if self._is_in_time(page, page_filter):
                return page
        raise NotServed(
            "later", f"{address[:500]} is not known to be as old as {page_filter.as_of}."
        )

    def _is_banned(self, page: str, page_filter: PageFilter) -> bool:
        if page_filter.ban is None:
            return False
        return page in self._encyclopedias or page in self.find_banned(page_filter.ban)

    def _is_in_time(self, page: str, page_filter: PageFilter) -> bool:
        day = self._days[page]
        if page_filter.as_of is None:
            return True
        return self._keep_undated if day is None else day <= page_filter.as_of
