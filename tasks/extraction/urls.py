"""One name per web page: the normalised URL is a page's key in the archive.

Normalised are scheme, host (case, default port, mobile and `www` variants), percent-encoding,
tracking parameters, fragment and trailing slash, so that two ways of writing an address meet.
"""

import re
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from w3lib.url import canonicalize_url

TRACKING = re.compile(
    r"^(utm_\w+|gclid|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|igshid|mc_[ce]id|"
    r"_ga|_gl|_hsenc|_hsmi|srsltid|ref_src|ref_url|vero_id|mkt_tok)$",
    re.IGNORECASE,
)
"""Query parameters that say where a reader came from, never which page it is."""

MAX_LENGTH = 4096
_MARKDOWN_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!~|&=:?%/])")
_TRAILING = ".,;:!?'\"»”’*<>|]}"
_HOST = re.compile(r"^[^\s/\\@]+\.[^\s/\\@.]+$")
_MOBILE = re.compile(r"^(?:m|mobile|amp)\.(?=[^.]+\.[^.]+)")


def normalise_url(url: str) -> str | None:
    """The key of the page an address names; None if it is no http(s) address.

    Idempotent. Always `https`: a page served under both schemes is one page.
    """
    cleaned = _cleaned(url)
    if cleaned is None:
        return None
    try:
        parts = urlsplit(canonicalize_url(cleaned, keep_fragments=False))
        host, port = parts.hostname, parts.port
    except (ValueError, UnicodeError):
        return None
    if parts.scheme not in ("http", "https") or not host or not _HOST.match(host):
        return None
    place = _host(host) + (f":{port}" if port not in (None, 80, 443) else "")
    query = _query(parts.query)
    path = quote(unquote(parts.path, errors="surrogateescape"), safe="/:@!$&'()*+,;=~-._",
                 errors="surrogateescape")  # fmt: skip
    path = path.rstrip("/")
    return f"https://{place}{path}" + (f"?{query}" if query else "")


def same_page(url: str, article_url: str) -> bool:
    """Whether a normalised address names the same page as an article's address.

    Wikipedia titles may come as path or as `?title=`, with spaces, underscores or any
    percent-encoding; query and case of the first letter do not matter.
    """
    other = normalise_url(article_url)
    return other is not None and _wiki_title(url) == _wiki_title(other)


def _wiki_title(url: str) -> tuple[str, str]:
    """(host, title) of a wiki page; (host, path and query) of any other page."""
    parts = urlsplit(url)
    host = parts.netloc
    if not host.endswith("wikipedia.org"):
        return host, parts.path + "?" + parts.query
    title = dict(parse_qsl(parts.query)).get("title") if "index.php" in parts.path else None
    title = title or unquote(parts.path.removeprefix("/wiki/"))
    title = title.replace(" ", "_").strip("_")
    return host, title[:1].upper() + title[1:]


def _cleaned(url: str) -> str | None:
    """Without Markdown escapes, wrapping and trailing punctuation."""
    text = _MARKDOWN_ESCAPE.sub(r"\1", url.strip().strip("<>")).strip()
    if len(text) > MAX_LENGTH or not text.lower().startswith(("http://", "https://")):
        return None
    while text and (
        text[-1] in _TRAILING or (text[-1] == ")" and text.count("(") < text.count(")"))
    ):
        text = text[:-1]
    return None if re.search(r"\s", text) else text


def _host(host: str) -> str:
    host = host.rstrip(".").lower().removeprefix("www.")
    if host.endswith(".m.wikipedia.org"):
        return host.replace(".m.wikipedia.org", ".wikipedia.org")
    return _MOBILE.sub("", host)


def _query(query: str) -> str:
    pairs = parse_qsl(query, keep_blank_values=True)
    return urlencode([(name, value) for name, value in pairs if not TRACKING.match(name)])
