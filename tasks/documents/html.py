"""HTML into Markdown: headings, lists, tables, links, notes and pictures kept, scripts gone."""

import re
from base64 import b64decode
from importlib.metadata import version
from urllib.parse import unquote

from html_to_markdown import ConversionOptions, convert
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tasks.documents.document import Document, UnreadableDocument
from tasks.documents.pictures import Pictures
from tasks.documents.plain import MARKS

READER = f"html-to-markdown {version('html-to-markdown')}"
MAX_DEPTH = 400
"""Elements within each other. The converter leaves out, in silence, what lies below 1,000."""

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
_GONE = "head, script, style, noscript, template, svg, iframe, object, embed, [hidden]"
_BACK = re.compile(r"[\s↑↩︎\ufe0e\ufe0f^←]*")
_NUMBER = re.compile(r"[\[(]?\s*(\d{1,4})\s*[\])]?")
_NAME = re.compile(r"[^A-Za-z0-9-]+")


def read(content: bytes) -> Document:
    """A page somebody saved or exported."""
    pictures = Pictures()
    return Document(
        markdown=to_markdown(decoded(content), pictures),
        media_type="text/html",
        reader=READER,
        pictures=pictures.kept,
        remarks=pictures.remarks,
    )


def decoded(content: bytes) -> str:
    """The page's text, by its byte order mark or by what it says of its encoding, else UTF-8."""
    marked = next((name for mark, name in MARKS if content.startswith(mark)), None)
    said = _CHARSET.search(content[:4096])
    encoding = marked or (said[1].decode("ascii") if said else "utf-8")
    try:
        return content.decode(encoding)
    except (LookupError, UnicodeDecodeError) as error:
        raise UnreadableDocument(
            f"it is not the {encoding} that it says it is ({type(error).__name__}). Save it as "
            "UTF-8."
        ) from None


def to_markdown(html: str, pictures: Pictures) -> str:
    """The text of a page as Markdown; pictures that lie within it go to `pictures`.

    Raises:
        UnreadableDocument: its elements lie too deep within each other.
    """
    tree = LexborHTMLParser(html)
    body = tree.body
    if body is None:
        return ""
    _refuse_deep(body)
    for node in body.css(_GONE):
        node.decompose()
    _write_footnotes(body)
    _take_pictures(body, pictures)
    return convert(body.html or "", _OPTIONS).content or ""


def _refuse_deep(body: LexborNode) -> None:
    depth, node = 0, body.first_child
    while node is not None:
        if node.first_child is not None:
            depth, node = depth + 1, node.first_child
            if depth > MAX_DEPTH:
                raise UnreadableDocument(
                    f"its elements lie more than {MAX_DEPTH} deep within each other. Export it "
                    "afresh, or as Markdown."
                )
            continue
        while node is not None and node.next is None and depth:
            depth, node = depth - 1, node.parent
        node = node.next if node is not None else None


def _take_pictures(body: LexborNode, pictures: Pictures) -> None:
    """Pictures written out within the page get names instead: nobody reads them as text."""
    for image in body.css("img"):
        source = image.attributes.get("src") or ""
        within = _DATA.match(source)
        if within is None and not source.lower().startswith("data:"):
            continue
        name = pictures.keep(within[1].lower(), _unwritten(within[2])) if within else None
        if name:
            image.attrs["src"] = name
        else:
            image.decompose()


def _unwritten(base64: str) -> bytes:
    try:
        return b64decode(unquote(base64))
    except ValueError:
        return b""


def _write_footnotes(body: LexborNode) -> None:
    """Notes that the text refers to within the page, as Markdown has them: `[^1]`, `[^1]: …`."""
    notes = {n.attributes["id"]: n for n in body.css("li[id], p[id], div[id], aside[id], td[id]")}
    named: dict[str, str] = {}
    for link in body.css("a[href^='#']"):
        target = (link.attributes.get("href") or "")[1:]
        number = _NUMBER.fullmatch(link.text().strip())
        if number is None or target not in notes:
            continue
        if target not in named:
            name = number[1] if number[1] not in named.values() else _NAME.sub("-", target)
            named[target] = name
        raised = link.parent if link.parent is not None and link.parent.tag == "sup" else link
        raised.replace_with(f"[^{named[target]}]")
    for target, name in named.items():
        _write_note(notes[target], name)


def _write_note(note: LexborNode, name: str) -> None:
    for link in note.css("a[href^='#']"):
        if _BACK.fullmatch(link.text()):
            link.decompose()
    first = note.css_first("p") or note
    if first.first_child is not None:
        first.first_child.insert_before(f"[^{name}]: ")
    else:
        first.insert_child(f"[^{name}]: ")
    if note.tag == "li":
        note.unwrap()
