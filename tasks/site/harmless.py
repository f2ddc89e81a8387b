"""Hostile text made harmless for a page: what Jinja's escaping does not do.

Reports, titles, claims and pages come from outside. Markup is escaped by the templates; here
is what stays dangerous without it: addresses, and characters that change how the text around
them is shown.
"""

import re
import unicodedata
from functools import lru_cache
from urllib.parse import urlsplit

LONGEST_URL = 2_000
"""Characters; browsers and people can do nothing with longer ones."""
_INVISIBLE = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f"  # control characters but tab and line feed
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction marks, embeddings, overrides
    "\u2028\u2029\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """The text with characters named that would act unseen: control characters, and those that
    turn the direction of what follows (`U+202E` makes `gpj.exe` read as `exe.jpg`)."""
    return _INVISIBLE.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


@lru_cache(10_000)
def web_address(url: str | None) -> str | None:
    """The address if a link may lead there: http or https, with a host, no user, of bearable
    length, and without characters that browsers drop or that act unseen. None otherwise."""
    if not url or len(url) > LONGEST_URL or _acts_unseen(url):
        return None
    try:
        parts = urlsplit(url)
        _ = parts.port  # read for its error: a port that is no number
    except ValueError:
        return None
    known = parts.scheme.lower() in ("http", "https")
    return url if known and parts.hostname and "@" not in parts.netloc else None


def _acts_unseen(url: str) -> bool:
    if url.isascii() and url.isprintable():
        return " " in url
    return any(c.isspace() or unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co") for c in url)
