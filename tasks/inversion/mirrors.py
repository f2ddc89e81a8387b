"""Which pages are the source article itself or a copy of it: they may not answer its question."""

from collections.abc import Sequence
from urllib.parse import parse_qsl, unquote, urlsplit

from tasks.configuration.inversion import InversionSettings
from tasks.extraction.urls import normalise_url, same_page
from tasks.inversion.naming import words
from tasks.inversion.overlap import shared_share


def is_the_article(url: str, article_url: str, title: str, hosts: Sequence[str]) -> bool:
    """Whether an address names the article, there or on a host that copies it.

    hosts: hosts of encyclopedias and mirrors; their subdomains (languages) belong to them.
    """
    if same_page(url, article_url):
        return True
    key = normalise_url(url)
    if key is None:
        return False
    place = urlsplit(key)
    host = place.hostname or ""
    if not any(host == known or host.endswith(f".{known}") for known in hosts):
        return False
    segments = unquote(place.path).split("/")
    # A title may hold slashes itself.
    named = ["/".join(segments[start:]) for start in range(len(segments))]
    named += [value for _, value in parse_qsl(place.query)]
    wanted = words(title)
    return any(words(name.replace("_", " ")) == wanted for name in named)


def is_copy(page: Sequence[str], article: Sequence[str], settings: InversionSettings) -> bool:
    """Whether a page's words are largely the article's: the whole of it, or an excerpt."""
    n = settings.mirror_ngram_words
    shares = (shared_share(page, article, n), shared_share(article, page, n))
    return any(share is not None and share >= settings.mirror_share for share in shares)
