"""Where cited addresses lead: who cites a page by a redirect cites the page."""

from collections.abc import Iterable, Mapping

from tasks.extraction.urls import normalise_url
from tasks.warehouse.rows import Page

Redirects = Mapping[str, str]
"""By the key of a page that redirects: the key of the page that it led to when it was fetched."""


def redirects_of(pages: Iterable[Page]) -> Redirects:
    """Of those pages that led to others."""
    return {page.url: page.final_url for page in pages if page.final_url}


def addresses(url: str, redirects: Redirects) -> tuple[str, ...]:
    """An address, and in turn what it leads to where those are other pages'.

    Two addresses are one page's where these meet.
    """
    key = normalise_url(url) or url
    way = {key: url}
    while (key := redirects.get(key, "")) and key not in way:
        way[key] = key
    return tuple(way.values())
