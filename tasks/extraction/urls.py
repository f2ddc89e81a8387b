"""URL normalisation: the normalised URL is a page's key in the archive.

Scheme, host (case, default port, mobile and `www` variants), percent-encoding, the order of query
parameters, tracking parameters, fragment, trailing slash and punctuation are normalised, so that
variants of an address give one key. A redirect that carries its target is the target.
"""

import re
from functools import lru_cache
from unicodedata import normalize
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from w3lib.url import canonicalize_url

from tasks.extraction.wrappers import find_target

TRACKING = re.compile(
    r"(?:utm_\w+|gclid|gclsrc|gad_\w+|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|igshid|igsh|"
    r"mc_[ce]id|_ga|_gl|_hsenc|_hsmi|srsltid|ref_src|ref_url|vero_id|mkt_tok|wt_mc|s_cid|cmpid)",
    re.IGNORECASE,
)
"""Query parameters that say where a reader came from, not which page it is."""

MAX_LENGTH = 4096
MAX_LAYERS = 8
"""Of addresses within one another, from the outside."""
_MARKDOWN_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!~|&=:?%/$])")
_AMPERSAND = re.compile(r"&(?:amp;)+")
_TRAILING = ".,;:'\"»”’*<>|]}"
"""Punctuation around an address. `!` and `)` may belong to it: titles end with them."""
_HOST = re.compile(r"[^\s/\\@]+\.[^\s/\\@.]+")
_VARIANT = re.compile(r"(?:www|m|mobile|amp)\.(?=[^.]+\.[^.]+)")
_MOBILE_WIKI = re.compile(r"\.m\.(?=(?:wiki[a-z]+|mediawiki)\.org$)")


@lru_cache(maxsize=2**16)
def normalise_url(url: str) -> str | None:
    """Return the page key of an address; None if it is no http(s) address.

    Idempotent. The scheme is always `https`: a page served under both schemes is one page.
    """
    cleaned = clean_url(url)
    key = _build_key(cleaned) if cleaned else None
    # A key may show a redirect that the address as written hid, by its encoding.
    target = clean_url(key) if key else None
    return key if target in (None, key) else normalise_url(target)


@lru_cache(maxsize=2**16)
def earlier_key(url: str) -> str | None:
    """Return the key that an address had while redirects were not taken for their targets: pages
    may be archived under it."""
    cleaned = _clean(url)
    return _build_key(cleaned) if cleaned else None


def is_same_page(url: str, article_url: str) -> bool:
    """Whether an address names the same page as an article's address, or a copy of it: one in an
    archive, of a reading proxy, a translation.

    A Wikipedia title may be a path or `?title=`, with spaces, underscores or any percent-encoding,
    also on the mobile host; query, fragment and case of the first letter do not matter.
    """
    article = _page_identity(article_url)
    return article is not None and article in map(_page_identity, look_through(url))


@lru_cache(maxsize=2**16)
def look_through(url: str) -> tuple[str, ...]:
    """Return an address and those that it carries: of the page that it redirects to, or is a copy
    of, in turn."""
    return (url, *_unwrap(url.strip().replace(" ", "_"), copies=True)[1:])


def clean_url(url: str) -> str | None:
    """Remove Markdown escapes, brackets and trailing punctuation, so that the address can be
    requested; of a redirect that carries its target, return that. None if it is no http(s)
    address."""
    return next(reversed(_unwrap(url, copies=False)), None)


def _unwrap(url: str, *, copies: bool) -> list[str]:
    """Return an address and those that it carries, each ready to be requested."""
    found: list[str] = []
    cleaned = _clean(url)
    while cleaned and len(found) <= MAX_LAYERS:
        found.append(cleaned)
        cleaned = _clean(find_target(cleaned, copies=copies) or "")
    return found


def _clean(url: str) -> str | None:
    if len(url) > 2 * MAX_LENGTH:
        return None
    text = _MARKDOWN_ESCAPE.sub(r"\1", url.strip().strip("<>")).strip()
    text = _trim(_AMPERSAND.sub("&", text))
    if len(text) > MAX_LENGTH or not text.lower().startswith(("http://", "https://")):
        return None
    return None if re.search(r"\s", text) else text


def _build_key(cleaned: str) -> str | None:
    try:
        parts = urlsplit(canonicalize_url(cleaned, keep_fragments=False))
        host, port = parts.hostname, parts.port
    except (ValueError, UnicodeError):
        return None
    if parts.scheme not in ("http", "https") or not host:
        return None
    host = _normalise_host(host)
    if not _HOST.fullmatch(host):
        return None
    place = host + (f":{port}" if port not in (None, 80, 443) else "")
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    query = urlencode(sorted((n, v) for n, v in pairs if not TRACKING.fullmatch(n)))
    decoded = unquote(parts.path, errors="surrogateescape")
    path = quote(decoded, safe="/:@!$&'()*+,;=~-._", errors="surrogateescape")
    return _trim(f"https://{place}{path}" + (f"?{query}" if query else ""))


@lru_cache(maxsize=2**16)
def _page_identity(url: str) -> tuple[str, str] | None:
    """Return (host, title) of a wiki page, (host, path and query) of any other page."""
    key = normalise_url(url.strip().replace(" ", "_"))
    if key is None:
        return None
    parts = urlsplit(key)
    if not parts.netloc.endswith("wikipedia.org"):
        return parts.netloc, f"{parts.path}?{parts.query}"
    title = unquote(parts.path.removeprefix("/wiki/"))
    if not parts.path.startswith("/wiki/"):
        title = dict(parse_qsl(parts.query)).get("title", title)
    title = re.sub(r"[\s_]+", "_", normalize("NFC", title)).strip("_")
    return parts.netloc, title[:1].upper() + title[1:]


def _trim(text: str) -> str:
    """Remove punctuation, slashes and unopened brackets from the end."""
    surplus = text.count(")") - text.count("(")
    end = len(text)
    while end and (text[end - 1] in _TRAILING or text[end - 1] in "/?" or surplus > 0):
        if text[end - 1] == ")":
            surplus -= 1
        elif text[end - 1] not in _TRAILING and text[end - 1] not in "/?":
            break
        end -= 1
    return text[:end]


def _normalise_host(host: str) -> str:
    """Lower the case and remove a mobile, AMP or `www` prefix."""
    host = _MOBILE_WIKI.sub(".", host.strip(".").lower())
    while _VARIANT.match(host):
        host = _VARIANT.sub("", host, count=1)
    return host
