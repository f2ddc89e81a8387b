"""Redirects of cited addresses: citing a redirect to a page is citing the page."""

from collections.abc import Iterable, Mapping

from tasks.extraction.urls import is_same_page, normalise_url
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
    while (key := redirects.get(key, "")) and key not in chain:
        chain[key] = key
    return tuple(chain.values())


def cites_page(urls: Iterable[str], page: str, redirects: Redirects) -> bool:
    """Whether any of the addresses is a page, or redirects to it: a claim that cites the target
    article is leaked."""
    return any(is_same_page(each, page) for url in urls for each in redirect_chain(url, redirects))
