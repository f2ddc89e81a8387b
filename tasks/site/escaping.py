"""Decide which URLs from outside are safe to link; templates escape the markup of texts."""

import unicodedata
from functools import lru_cache
from urllib.parse import urlsplit

MAX_URL_CHARS = 2_000
"""Longer URLs are not linked."""


@lru_cache(10_000)
def safe_url(url: str | None) -> str | None:
    """Return the URL if it is safe to link: http or https, with a host, without a user, not too
    long, without invisible characters. None otherwise."""
    if not url or len(url) > MAX_URL_CHARS or _has_invisible(url):
        return None
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises ValueError if the port is no number
    except ValueError:
        return None
    known = parts.scheme.lower() in ("http", "https")
    return url if known and parts.hostname and "@" not in parts.netloc else None


def _has_invisible(url: str) -> bool:
    if url.isascii() and url.isprintable():
        return " " in url
    return any(c.isspace() or unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co") for c in url)
