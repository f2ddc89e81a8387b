"""Find where a page leads in place of a text of its own: by a refresh, as an HTTP redirect would,
or to the PDF that it shows.

Browsers follow a refresh by the rules of the HTML standard ("shared declarative refresh steps");
they hold for the `Refresh` header too.
"""

import re
from urllib.parse import parse_qs, unquote, urldefrag, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode
from w3lib.url import canonicalize_url

MAX_REFRESH_SECONDS = 10
"""A refresh after a longer time renews a page that is there to be read."""
OWN_LETTERS = 400
"""Letters of prose with which a page that also shows a PDF is a page. Journals' and archives'
viewers have a heading, data and buttons; an abstract, or an article with an enclosure, has more."""
PROSE_LINE = 80
"""Characters of a line of prose; data, headings and menus are shorter."""
_LEADING = re.compile(
    r"http-equiv[^<>]{0,20}refresh|<(?:i?frame|embed|object)\b[^<>]{0,3000}(?:pdf|viewer|load/|file/)"
    r"|pdfviewer|viewercontainer|pdfcanvascontainer|pdfemb-viewer|pdfjslib|pdfobject"
)
"""What a page that leads on has in its markup, in small letters."""
_REFRESH = re.compile(r"\s*(\d{1,9})[\d.]*(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?+(.*)", re.I | re.S)
_NOSCRIPT = re.compile(r"<noscript\b.*?(?:</noscript[^>]{0,99}>|\Z)", re.I | re.S)
_SNAPSHOT = re.compile(r"(https?://[^/?#]+/web/\d{14}id_/)(https?://.+)", re.S)
_SOURCES = ("src", "data", "data-src", "data-lazy-src")
_PDF_ADDRESS = re.compile(r"(?<![a-z])pdf(?![a-z.]*js\b)|(?:^|/)(?:download|viewfile)/", re.I)
_PAGE_ADDRESS = re.compile(r"\.(?:html?|js|php|aspx?)$", re.I)
_VIEWER = re.compile(r"/(?:[\w.-]{0,80}viewer[\w.-]{0,80}|gview|pdf\.?js)/?$", re.I)
_VIEWED = ("file", "url", "src", "pdf", "document")
"""Parameters with which viewers are told what to show."""
_VIEWER_SCRIPT = re.compile(r"\b(?:pdfjsLib\.getDocument|PDFObject\.embed)\(")
_VIEWER_MARKUP = "#pdfCanvasContainer, .pdfViewer, #viewerContainer, .pdfemb-viewer"
_DOWNLOAD = "a.pdfemb-viewer[href], a.download[href], a[download][href]"


def may_lead(head: bytes, url: str) -> bool:
    """Return whether a page is worth reading for where it leads."""
    return bool(
        find_viewed(url) or _LEADING.search(head.decode("latin-1").lower().replace("%2f", "/"))
    )


def parse_refresh(value: str, url: str, base: str | None = None) -> str | None:
    """Return the address that a refresh leads to; None if it comes late, renews the page itself or
    is no refresh.

    value: as in `0; url='/new'`. base: what relative addresses start from, if not the page's URL.
    """
    found = _REFRESH.fullmatch(value)
    if not found or int(found[1]) > MAX_REFRESH_SECONDS:
        return None
    where = found[2].strip()
    if where.startswith(("'", '"')):
        where = where[1:].partition(where[0])[0]
    target = _resolve(base or url, where)
    return target if target and canonicalize_url(target) != canonicalize_url(url) else None


def find_refresh(html: str, url: str, *, with_noscript: bool) -> str | None:
    """Return where the page's first refresh leads; None as of `parse_refresh`.

    with_noscript: also one in `<noscript>`, which browsers follow only if they run no scripts.
    """
    if "refresh" not in html.lower():
        return None
    tree = LexborHTMLParser(html if with_noscript else _NOSCRIPT.sub("", html))
    node = tree.css_first("meta[http-equiv='refresh' i][content]")
    value = node.attributes.get("content") if node is not None else None
    return parse_refresh(value or "", url, _find_base(tree, url))


def find_shown_pdf(html: str, url: str, text: str) -> str | None:
    """Return the PDF that a page shows in place of a text: in a frame or by a viewer.

    It is "" if it shows several, or does not say which; None if it shows none.
    """
    if viewed := find_viewed(url):
        return viewed
    lines = (line for line in text[:200_000].split("\n") if len(line) >= PROSE_LINE)
    if sum(letter.isalnum() for line in lines for letter in line) >= OWN_LETTERS:
        return None  # it has prose of its own
    tree = LexborHTMLParser(html)
    base = _find_base(tree, url)
    found = {_find_framed(node, base) for node in tree.css("iframe, frame, embed, object")} - {None}
    if not found and (tree.css_matches(_VIEWER_MARKUP) or _VIEWER_SCRIPT.search(html)):
        link = tree.css_first(_DOWNLOAD)
        found = {_resolve(base, link.attributes.get("href") or "") if link is not None else None}
    if not found:
        return None
    return (found.pop() or "") if len(found) == 1 else ""


def find_viewed(url: str) -> str | None:
    """Return the PDF that the address of a viewer names; None if it is no such address."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if not _VIEWER.search(parts.path):
        return None
    fields = parse_qs(parts.query)
    shown = next((fields[name][0] for name in _VIEWED if name in fields), "")
    is_pdf = parts.path.endswith("viewer.html") or _PDF_ADDRESS.search(shown)
    return _resolve(url, shown) if is_pdf else None


def _find_framed(node: LexborNode, base: str) -> str | None:
    """Return the PDF that an element shows, itself or by a viewer; "" if it has no address."""
    where = next((value for name in _SOURCES if (value := node.attributes.get(name))), "")
    target = _resolve(base, where) or ""
    if viewed := find_viewed(target):
        return viewed
    if (node.attributes.get("type") or "").strip().lower().startswith("application/pdf"):
        return target
    parts = urlsplit(target)
    is_named = _PDF_ADDRESS.search(unquote(f"{parts.path}?{parts.query}"))
    return target if is_named and not _PAGE_ADDRESS.search(parts.path) else None


def _find_base(tree: LexborHTMLParser, url: str) -> str:
    node = tree.css_first("base[href]")
    return (_resolve(url, node.attributes.get("href") or "") if node is not None else None) or url


def _resolve(base: str, where: str) -> str | None:
    """Return an absolute http(s) address without its fragment, as a browser reads it; in a
    snapshot, that of a snapshot of the same time. None if it is none."""
    where = where.strip().replace(" ", "%20")
    snapshot = _SNAPSHOT.fullmatch(base)
    try:
        target = urldefrag(urljoin(snapshot[2] if snapshot else base, where))[0]
        is_web = urlsplit(canonicalize_url(target)).scheme in ("http", "https")
    except ValueError:
        return None
    if snapshot and not _SNAPSHOT.fullmatch(target):
        target = snapshot[1] + target
    return target if where and is_web else None
