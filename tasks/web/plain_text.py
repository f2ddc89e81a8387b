"""Read text pages other than HTML: plain text, JSON, XML and feeds."""

import re

import orjson
from lxml import etree
from selectolax.lexbor import LexborHTMLParser

from tasks.warehouse.rows import replace_surrogates
from tasks.web.page import ExtractedText

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]{0,500}>")


def read_text(text: str) -> str:
    """Normalize line breaks and remove control characters."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n")
    return _BLANK_LINES.sub("\n\n", _CONTROL.sub("", text)).strip()


def read_json(text: str) -> str:
    """Format JSON with one value a line; return other text as `read_text` does."""
    try:
        value = orjson.loads(text)
        pretty = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return read_text(text)
    return replace_surrogates(pretty)


def read_xml(text: str) -> ExtractedText:
    """Read an XML document's title and texts, one line for each element with text.

    Blank lines separate the items of a feed; HTML within them becomes text. Entities that the
    document declares are not resolved, and nothing is loaded.
    """
    parser = etree.XMLParser(
        recover=True,
        resolve_entities=False,
        no_network=True,
        encoding="utf-8",
        remove_pis=True,
        remove_comments=True,
    )
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError):
        root = None
    if root is None:
        return ExtractedText(text=read_text(text))
    lines: list[str] = []
    title: str | None = None
    for element in root.iter():
        if not isinstance(element.tag, str):  # an entity
            continue
        if len(element) and lines and lines[-1]:
            lines.append("")
        before = _element_text(element.text)
        if before:
            lines.append(before)
            is_title = etree.QName(element).localname == "title"
            title = title or (" ".join(before.split()) if is_title else None)
        if after := _element_text(element.tail):
            lines.append(after)
    errors = parser.error_log.filter_from_errors()
    remarks: tuple[str, ...] = ()
    if len(errors):
        damage = replace_surrogates(" ".join(errors[0].message.split())[:200])
        remarks = (f"damaged XML, some of it may be missing: {damage}",)
    return ExtractedText(text=read_text("\n".join(lines)), title=title, remarks=remarks)


def _element_text(text: str | None) -> str:
    text = (text or "").strip()
    if _MARKUP.search(text):
        body = LexborHTMLParser(text).body
        text = body.text(separator=" ").strip() if body is not None else text
    return text
