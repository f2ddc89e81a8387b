"""Pages that are no HTML but text all the same: plain text, JSON, XML and its feeds."""

import re
from typing import NamedTuple

import orjson
from lxml import etree
from selectolax.lexbor import LexborHTMLParser

from tasks.warehouse.rows import storable

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]{0,500}>")


def read_text(text: str) -> str:
    """A text with one kind of line break and no control characters."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n")
    return _BLANK_LINES.sub("\n\n", _CONTROL.sub("", text)).strip()


def read_json(text: str) -> str:
    """JSON with a line for each value; what is no JSON as it stands."""
    try:
        value = orjson.loads(text)
        pretty = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return read_text(text)
    return storable(pretty)


class XmlText(NamedTuple):
    """What an XML document says."""

    title: str | None
    text: str
    damage: str | None
    """Why some of it may be missing."""


def read_xml(text: str) -> XmlText:
    """The title and the texts of an XML document, a line for each element that has one.

    Items of a feed stand apart; HTML within them becomes text. Entities that the document
    declares are not resolved, and nothing is loaded.
    """
    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, encoding="utf-8", remove_pis=True,
        remove_comments=True,
    )  # fmt: skip
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError):
        root = None
    if root is None:
        return XmlText(None, read_text(text), None)
    lines: list[str] = []
    title: str | None = None
    for element in root.iter():
        if not isinstance(element.tag, str):  # an entity
            continue
        if len(element) and lines and lines[-1]:
            lines.append("")
        said = _said(element.text)
        if said:
            lines.append(said)
            is_title = etree.QName(element).localname == "title"
            title = title or (" ".join(said.split()) if is_title else None)
        if after := _said(element.tail):
            lines.append(after)
    errors = parser.error_log.filter_from_errors()
    damage = " ".join(errors[0].message.split())[:200] if len(errors) else None
    return XmlText(title, read_text("\n".join(lines)), damage)


def _said(text: str | None) -> str:
    text = (text or "").strip()
    if _MARKUP.search(text):
        body = LexborHTMLParser(text).body
        text = body.text(separator=" ").strip() if body is not None else text
    return text
