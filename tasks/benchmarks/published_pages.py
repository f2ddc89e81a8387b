"""The page texts a published JSON archives.

A page is good (`ok`) by the published rule: no `error`, and more than 100 characters of content.
What a page says is not looked at: blocking pages by words such as "captcha" also throws out
honest pages. Of the published 2,371 copies 2,161 are good, 177 carry an error, 33 are too
short. The good ones are of 2,019 URLs; 35 of those have several good copies that differ.
"""

import base64
import binascii
import unicodedata
from collections.abc import Mapping
from typing import Any

from tasks.benchmarks.document import Document, text_of
from tasks.extraction.urls import normalise_url
from tasks.warehouse.rows import Page, content_sha

MIN_CONTENT_CHARACTERS = 100
"""A good page holds more than this many characters, blanks at its ends aside."""


def pages_of(edition: str, document: Document) -> tuple[list[Page], int]:
    """A report's pages in order of their citation numbers, and how many have no usable URL.

    A copy belongs to the URL the report cites under its number; the address it was fetched
    from (`url`) stands in where `citation_urls` does not list that number. The two differ in
    8 published copies, by percent-encoding or a redirect only.
    """
    pages: list[Page] = []
    skipped = 0
    for number, record in sorted(document.citation_contents.items()):
        cited = document.citation_urls.get(number) or text_of(record.get("url"))
        url = normalise_url(cited)
        if url is None:
            skipped += 1
        else:
            pages.append(_page(edition, url, record))
    return pages, skipped


class Archive:
    """Pages by URL: the first good copy stays, a good copy replaces an unfetchable one."""

    def __init__(self) -> None:
        self._pages: dict[str, Page] = {}

    def add(self, page: Page) -> None:
        known = self._pages.get(page.url)
        if known is None or (known.status != "ok" and page.status == "ok"):
            self._pages[page.url] = page

    def rows(self) -> tuple[Page, ...]:
        """All pages, by URL."""
        return tuple(page for _, page in sorted(self._pages.items()))


def decoded_title(title: str) -> str | None:
    """A page's title as text; most are published in Base64. Null if blank.

    Decoded only if it is exact Base64 of readable UTF-8; anything else is taken as it stands.
    """
    title = title.strip()
    try:
        raw = base64.b64decode(title, validate=True)
        text = raw.decode("utf-8").strip()
    except (binascii.Error, ValueError):
        return title or None
    exact = base64.b64encode(raw).decode() == title
    encoded = bool(text) and exact and _readable(text) and not _is_plain(title, text)
    return text if encoded else title or None


def _is_plain(title: str, decoded: str) -> bool:
    """True for a word or a year that only happens to be Base64, such as `Pipe` or `1541`."""
    one_case = title.islower() or title.isupper() or title.istitle()
    short_word = decoded.isascii() and decoded.isalpha()
    return (title.isalpha() and one_case) or (len(title) <= 4 and not short_word)


def _page(edition: str, url: str, record: Mapping[str, Any]) -> Page:
    content = text_of(record.get("content"))
    error = _error(record, len(content.strip()))
    return Page(
        edition=edition,
        url=url,
        status="ok" if error is None else "unfetchable",
        title=decoded_title(text_of(record.get("title"))),
        text=content if error is None else None,
        text_sha=content_sha(content) if error is None else None,
        error=error,
        fetched_by=text_of(record.get("fetched_by")) or None,
        source="published",
    )


def _error(record: Mapping[str, Any], n_characters: int) -> str | None:
    error = record.get("error")
    if error:
        return text_of(error) or str(error)
    if n_characters <= MIN_CONTENT_CHARACTERS:
        return (
            f"only {n_characters} characters of content; more than {MIN_CONTENT_CHARACTERS} needed"
        )
    return None


_UNREADABLE_CATEGORIES = frozenset({"Cc", "Cn", "Co", "Cs"})


def _readable(text: str) -> bool:
    """No control, private or unassigned characters but line breaks and tabs."""
    return all(c in "\n\r\t" or unicodedata.category(c) not in _UNREADABLE_CATEGORIES for c in text)
