"""Escape what Jinja does not: unsafe URLs and characters that change how text is displayed.

Reports, titles, claims and pages come from outside. Templates escape their markup.
"""

import re
import unicodedata
from functools import lru_cache
from urllib.parse import urlsplit

MAX_URL_CHARS = 2_000
"""Longer URLs are not linked."""
_INVISIBLE = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f"  # control characters but tab and line feed
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction marks, embeddings, overrides
    "\u2028\u2029\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def escape_invisible(text: str) -> str:
    """Replace control characters and those that change the text direction by their names
    (`U+202E` makes `gpj.exe` read as `exe.jpg`)."""
    return _INVISIBLE.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


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
