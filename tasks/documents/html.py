"""Convert HTML to Markdown with headings, lists, tables, links, notes and pictures."""

import re
from base64 import b64decode
from importlib.metadata import version
from urllib.parse import unquote

from html_to_markdown import ConversionOptions, convert
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tasks.documents.document import ParsedDocument, UnreadableDocument
from tasks.documents.html_notes import drop_brackets, write_citations
from tasks.documents.picture import PictureCollector
from tasks.documents.plain import BYTE_ORDER_MARKS
from tasks.extraction.hidden import UNSEEN_TAGS, hides

READER = f"html-to-markdown {version('html-to-markdown')}"
MAX_DEPTH = 400
"""Nested elements. The converter silently drops what is nested deeper than 1,000."""

_OPTIONS = ConversionOptions(
    heading_style="atx",
    bullets="-",
    list_indent_width=2,
    autolinks=False,
    extract_metadata=False,
    skip_images=False,
    br_in_tables=False,
)
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE)
_DATA = re.compile(r"data:(image/[\w.+-]{1,40});base64,(.*)", re.IGNORECASE | re.DOTALL)
_PERHAPS_HIDDEN = ", ".join((*sorted(UNSEEN_TAGS), "[hidden]", "[style]"))


def read(content: bytes) -> ParsedDocument:
    """Read a saved or exported HTML page."""
    collector = PictureCollector()
    return ParsedDocument(
        markdown=to_markdown(decode_html(content), collector),
        media_type="text/html",
        reader=READER,
        pictures=collector.pictures,
        remarks=collector.remarks,
    )


def decode_html(content: bytes) -> str:
    """Decode a page by its byte order mark or its declared encoding, else as UTF-8."""
    marked = next((name for mark, name in BYTE_ORDER_MARKS if content.startswith(mark)), None)
    declared = _CHARSET.search(content[:4096])
    encoding = marked or (declared[1].decode("ascii") if declared else "utf-8")
    try:
        return content.decode(encoding)
    except (LookupError, UnicodeDecodeError) as error:
        raise UnreadableDocument(
            f"it is not the {encoding} that it says it is ({type(error).__name__}). Save it as "
            "UTF-8."
        ) from None


def to_markdown(html: str, pictures: PictureCollector) -> str:
    """Convert a page's text to Markdown; embedded pictures go to `pictures`.

    Raises:
        UnreadableDocument: its elements are nested too deeply.
    """
    tree = LexborHTMLParser(html)
    body = tree.body
    if body is None:
        return ""
    _check_depth(body)
    for node in reversed(body.css(_PERHAPS_HIDDEN)):  # the inner ones first
        if node.tag != "body" and hides(node.tag or "", node.attributes):
            node.decompose()
    write_citations(body)
    _extract_pictures(body, pictures)
    return drop_brackets(convert(body.html or "", _OPTIONS).content or "")


def _check_depth(body: LexborNode) -> None:
    depths: dict[int, int] = {}
    for node in body.traverse():
        depth = depths[node.mem_id] = depths.get(node.parent.mem_id, -1) + 1 if node.parent else 0
        if depth > MAX_DEPTH:
            raise UnreadableDocument(
                f"its elements lie more than {MAX_DEPTH} deep within each other. Export it "
                "afresh, or as Markdown."
            )


def _extract_pictures(body: LexborNode, pictures: PictureCollector) -> None:
    """Replace embedded pictures by names, so that their data is not read as text."""
    for image in body.css("img"):
        source = image.attributes.get("src") or ""
        within = _DATA.match(source)
        if within is None and not source.lower().startswith("data:"):
            continue
        name = pictures.add(within[1].lower(), _decode_base64(within[2])) if within else None
        if name:
            image.attrs["src"] = name
        else:
            image.decompose()


def _decode_base64(base64: str) -> bytes:
    try:
        return b64decode(unquote(base64))
    except ValueError:
        return b""
