"""Redirects of cited addresses: citing a redirect to a page is citing the page."""

from collections.abc import Iterable, Mapping

from tasks.extraction.urls import earlier_key, is_same_page, look_through, normalise_url
from tasks.warehouse.pages import Page

Redirects = Mapping[str, str]
"""Key of a redirecting page → key of the page it led to when it was fetched."""


def collect_redirects(pages: Iterable[Page]) -> Redirects:
    """Return the redirects among these pages."""
    return {page.url: page.final_url for page in pages if page.final_url}


def redirect_chain(url: str, redirects: Redirects) -> tuple[str, ...]:
    """Return an address and the addresses that it redirects to, in turn.

    Two addresses name the same page if their chains intersect.
    """
    key = normalise_url(url) or url
    chain = {key: url}
    key = redirects.get(key) or redirects.get(earlier_key(url) or url, "")
    while key and key not in chain:
        chain[key] = key
        key = redirects.get(key, "")
    return tuple(chain.values())


def reach_addresses(url: str, redirects: Redirects) -> tuple[str, ...]:
    """Return an address, those of the pages that it is a copy of, and where each redirects to."""
    return tuple(hop for each in look_through(url) for hop in redirect_chain(each, redirects))


def cites_page(urls: Iterable[str], page: str, redirects: Redirects) -> bool:
    """Whether any of the addresses is a page or a copy of it, or redirects to one: a claim that
    cites the target article is leaked."""
    return any(is_same_page(each, page) for url in urls for each in reach_addresses(url, redirects))
