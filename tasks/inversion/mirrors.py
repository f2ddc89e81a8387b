"""Detect the source article and its copies among pages: they must not answer its question."""

from collections.abc import Sequence
from urllib.parse import parse_qsl, unquote, urlsplit

from tasks.configuration.inversion import InversionSettings
from tasks.extraction.urls import is_same_page, normalise_url
from tasks.inversion.naming import split_words
from tasks.inversion.overlap import shared_share


def is_article_url(url: str, article_url: str, title: str, hosts: Sequence[str]) -> bool:
    """Whether an address is the article's, at its source or on a host that copies it.

    Args:
        hosts: Hosts of encyclopedias and mirrors, including their subdomains (languages).
    """
    if is_same_page(url, article_url):
        return True
    key = normalise_url(url)
    if key is None:
        return False
    place = urlsplit(key)
    host = place.hostname or ""
    if not any(host == known or host.endswith(f".{known}") for known in hosts):
        return False
    segments = unquote(place.path).split("/")
    # A title may contain slashes.
    named = ["/".join(segments[start:]) for start in range(len(segments))]
    named += [value for _, value in parse_qsl(place.query)]
    wanted = split_words(title)
    return any(split_words(name.replace("_", " ")) == wanted for name in named)


def is_copy(page: Sequence[str], article: Sequence[str], settings: InversionSettings) -> bool:
    """Whether a page largely consists of the article's words, or the article of the page's."""
    n = settings.mirror_ngram_words
    shares = (shared_share(page, article, n), shared_share(article, page, n))
    return any(share is not None and share >= settings.mirror_share for share in shares)
