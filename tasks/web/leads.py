"""Find where a page leads in place of a text of its own: by a refresh, as an HTTP redirect would,
or to the PDF that it shows.

Browsers follow a refresh by the rules of the HTML standard ("shared declarative refresh steps");
they hold for the `Refresh` header too.
"""

import re
from urllib.parse import parse_qs, unquote, urldefrag, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_REFRESH_SECONDS = 10
"""A refresh after a longer time renews a page that is there to be read."""
OWN_LETTERS = 400
"""Letters of prose with which a page that also shows a PDF is a page. Journals' and archives'
viewers have a heading, data and buttons; an abstract, or an article with an enclosure, has more."""
PROSE_LINE = 80
"""Characters of a line of prose; data, headings and menus are shorter."""
_REFRESH = re.compile(r"\s*(\d{1,9})[\d.]*(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?+(.*)", re.I | re.S)
_HAS_REFRESH = re.compile(r"http-equiv[^>]{0,20}refresh", re.I)
_PRAGMA = "meta[http-equiv='refresh' i][content]"
_REFRESH_TAG = re.compile(rb"http-equiv\s{0,9}=[^>]{0,20}refresh")
_SCRIPTS = (b"pdfcanvascontainer", b"pdfviewer", b"pdfemb-viewer", b"getdocument(", b"pdfobject")
_FRAME_TAG = re.compile(rb"<(?:iframe|frame|embed|object)\b[^<>]{0,3000}")
_NOSCRIPT, _NOSCRIPT_END = re.compile("<noscript\\b", re.I), re.compile("</noscript\\b", re.I)
_SNAPSHOT = re.compile(r"(https?://[^/?#]+/web/\d{14}id_/)(https?://.+)", re.S)
_FRAMES = "iframe, frame, embed, object"
_SOURCES = ("src", "data", "data-src", "data-lazy-src")
_PDF_ADDRESS = re.compile(r"(?<![a-z])pdf(?![a-z.]*js\b)|(?:^|/)(?:download|viewfile)/", re.I)
_PAGE_ADDRESS = re.compile(r"\.(?:html?|js|php|aspx?)$", re.I)
_VIEWER = re.compile(r"/(?:[\w.-]{0,80}viewer[\w.-]{0,80}|gview|pdf\.?js)/?$", re.I)
_VIEWER_MARKUP = "#pdfCanvasContainer, .pdfViewer, #viewerContainer, .pdfemb-viewer"
_DOWNLOAD = "a.pdfemb-viewer[href], a.download[href], a[download][href], #pdfDownloadLink[href]"
_VIEWED = ("file", "url", "src", "pdf", "document")
"""Parameters with which viewers are told what to show."""
_SCRIPTED = re.compile(
    r"(?:\bgetDocument|\bPDFObject\.embed)\(\s*(?:\{\s*[\"']?url[\"']?\s*:\s*)?"
    r"[\"']([^\"'<>\s]{1,2000})[\"']"
)


def may_lead(head: bytes, url: str) -> bool:
    """Return whether a page is worth reading for where it leads."""
    head = head.lower()
    if find_viewed(url) or _REFRESH_TAG.search(head) or any(name in head for name in _SCRIPTS):
        return True
    is_named = b"pdf" in head or b"download" in head
    tags = (found[0] for found in _FRAME_TAG.finditer(head)) if is_named else ()
    return any(b"pdf" in tag or b"download" in tag for tag in tags)


def resolve(base: str, where: str) -> str:
    """Return an address in a page as an absolute one; that in a snapshot's original is a snapshot
    of the same time.

    Raises:
        ValueError: it cannot be read.
    """
    snapshot = _SNAPSHOT.fullmatch(base)
    if snapshot is None:
        return urljoin(base, where)
    target = urljoin(snapshot[2], where)
    return target if _SNAPSHOT.fullmatch(target) else snapshot[1] + target


def parse_refresh(value: str, base: str) -> str | None:
    """Return the address that a refresh leads to; None if it comes late, renews the page itself or
    is no refresh.

    value: as in `0; url='/new'`. base: what relative addresses start from.
    """
    found = _REFRESH.fullmatch(value)
    if not found or int(found[1]) > MAX_REFRESH_SECONDS:
        return None
    where = found[2].strip()
    if where.startswith(("'", '"')):
        where = where[1:].partition(where[0])[0]
    target = _resolve_web(base, where)
    return None if target is None or _is_same(target, base) else target


def find_refresh(html: str, url: str, *, with_noscript: bool = False) -> str | None:
    """Return where the page's first refresh leads; None as of `parse_refresh`.

    with_noscript: also one in `<noscript>`, which browsers follow only if they run no scripts.
    """
    if not _HAS_REFRESH.search(html):
        return None
    if not with_noscript:
        before, *parts = _NOSCRIPT.split(html)
        html = before + "".join("".join(_NOSCRIPT_END.split(part, 1)[1:]) for part in parts)
    tree = LexborHTMLParser(html)
    node = tree.css_first(_PRAGMA)
    content = node.attributes.get("content") if node is not None else None
    target = parse_refresh(content or "", _find_base(tree, url))
    return None if target is None or _is_same(target, url) else target


def find_shown_pdfs(tree: LexborHTMLParser, html: str, url: str) -> tuple[str, ...] | None:
    """Return the PDFs that a page shows: in a frame, by a viewer, by a script. None if it shows
    none; empty if it is a viewer that does not say of what."""
    if viewed := find_viewed(url):
        return (viewed,)
    base = _find_base(tree, url)
    framed = [_find_framed(node, base) for node in tree.css(_FRAMES)]
    found = list(dict.fromkeys(pdf for pdf in framed if pdf))
    if not found:
        scripted = (_resolve_web(base, where) for where in _SCRIPTED.findall(html))
        found = [pdf for pdf in dict.fromkeys(scripted) if pdf]
    if found:
        return tuple(found)
    if tree.css_first(_VIEWER_MARKUP) is None:
        return None
    link = tree.css_first(_DOWNLOAD)
    target = _resolve_web(base, link.attributes.get("href") or "") if link is not None else None
    return (target,) if target else ()


def find_viewed(url: str) -> str | None:
    """Return the PDF that the address of a viewer names; None if it is no such address."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if not parts.query or not _VIEWER.search(parts.path):
        return None
    fields = {name.lower(): values[0] for name, values in parse_qs(parts.query).items()}
    for name in _VIEWED:
        value = fields.get(name, "")
        if value and (parts.path.endswith("viewer.html") or _PDF_ADDRESS.search(value)):
            return _resolve_web(url, value)
    return None


def has_own_prose(text: str) -> bool:
    """Return whether a page that shows a PDF has a text of its own beside it."""
    lines = (line for line in text[:200_000].split("\n") if len(line) >= PROSE_LINE)
    return sum(letter.isalnum() for line in lines for letter in line) >= OWN_LETTERS


def _find_framed(node: LexborNode, base: str) -> str | None:
    """Return the PDF that an element shows, itself or by a viewer."""
    attributes = node.attributes
    where = next((value for name in _SOURCES if (value := attributes.get(name))), None)
    target = _resolve_web(base, where) if where else None
    if target is None:
        return None
    if viewed := find_viewed(target):
        return viewed
    if (attributes.get("type") or "").strip().lower().startswith("application/pdf"):
        return target
    parts = urlsplit(target)
    is_named = _PDF_ADDRESS.search(unquote(f"{parts.path}?{parts.query}"))
    return target if is_named and not _PAGE_ADDRESS.search(parts.path) else None


def _find_base(tree: LexborHTMLParser, url: str) -> str:
    node = tree.css_first("base[href]")
    base = node.attributes.get("href") if node is not None else None
    return (_resolve_web(url, base) if base else None) or url


def _resolve_web(base: str, where: str) -> str | None:
    """Return an absolute http(s) address, as a browser reads it; None if it is none."""
    where = re.sub(r"[\t\r\n]", "", where.strip()).replace(" ", "%20")
    try:
        target = resolve(base, where)
        is_web = urlsplit(target).scheme in ("http", "https")
    except ValueError:
        return None
    return target if where and is_web else None


def _is_same(one: str, other: str) -> bool:
    return urldefrag(one)[0].rstrip("/") == urldefrag(other)[0].rstrip("/")
