"""Convert Word files to Markdown via HTML: notes as footnotes, pictures apart from the text."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib.metadata import version
from io import BytesIO
from typing import Protocol
from zipfile import BadZipFile, ZipFile

import mammoth
from lxml import etree

from tasks.documents import html
from tasks.documents.document import OLE, ParsedDocument, UnreadableDocument
from tasks.documents.picture import PictureCollector

READER = f"mammoth {version('mammoth')}, {html.READER}"
MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
MAX_UNPACKED_BYTES = 200_000_000
MAX_TEXT_BYTES = 30_000_000
"""Largest unpacked XML part; a report of 10,000 words has one million bytes."""
MAX_PARTS = 5_000
_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='Heading 7'] => h6:fresh
p[style-name='Quote'] => blockquote > p:fresh
p[style-name='Source Code'] => pre:separator('\\n')
r[style-name='Verbatim Char'] => code
"""
_WORD = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
}
_STYLE_SHEET = "word/styles.xml"
_TEXTS = (_STYLE_SHEET, "word/document.xml", "word/footnotes.xml", "word/endnotes.xml")
_XML = etree.XMLParser(resolve_entities=False, no_network=True)
_HIDES = "w:rPr/w:vanish[not(@w:val = '0' or @w:val = 'false' or @w:val = 'off')]"
_HIDDEN_RUNS = (
    f"//w:r[{_HIDES} or not(w:rPr/w:vanish)"
    " and (w:rPr/w:rStyle | ../w:pPr/w:pStyle)/@w:val = $styles/@w:styleId]"
)
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


class _Image(Protocol):
    """A picture as mammoth passes it."""

    content_type: str | None
    alt_text: str | None
    open: Callable[[], AbstractContextManager[BytesIO]]


def read(content: bytes) -> ParsedDocument:
    """Read a Word file's text and pictures, without its layout."""
    _check_safe(content)
    collector = PictureCollector()

    def show(image: _Image) -> list[object]:
        name = collector.add(image.content_type or "application/octet-stream", _read_bytes(image))
        attributes = {"src": name, "alt": image.alt_text or ""}
        return [mammoth.html.element("img", attributes)] if name else []

    shown = BytesIO(_show_text(content))
    page = mammoth.convert_to_html(
        shown, convert_image=show, style_map=_STYLES, external_file_access=False
    ).value
    return ParsedDocument(
        markdown=html.to_markdown(f"<body>{page}</body>", collector),
        media_type=MEDIA_TYPE,
        reader=READER,
        pictures=collector.pictures,
        remarks=collector.remarks,
    )


def _read_bytes(image: _Image) -> bytes:
    """Read a picture's bytes; empty if it is external or missing in the file."""
    try:
        with image.open() as file:
            return file.read()
    except (OSError, KeyError, ValueError):
        return b""


def _show_text(content: bytes) -> bytes:
    """Return a Word file without the text that Word hides, by its own format or by a style, and
    with equations, which mammoth leaves out, as words."""
    with ZipFile(BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    if not any(b"vanish" in part or b"oMath" in part for part in map(parts.get, _TEXTS) if part):
        return content
    sheet = etree.fromstring(parts.get(_STYLE_SHEET, b"<none/>"), _XML)
    styles = sheet.xpath(f"//w:style[{_HIDES}]", namespaces=_WORD)
    for name in set(_TEXTS).intersection(parts):
        text = etree.fromstring(parts[name], _XML)
        for run in text.xpath(_HIDDEN_RUNS, styles=styles, namespaces=_WORD):
            run.getparent().remove(run)
        for equation in text.xpath("//m:oMath", namespaces=_WORD):
            words = "".join(equation.xpath(".//m:t/text()", namespaces=_WORD))
            equation.clear(keep_tail=True)
            equation.tag = f"{{{_WORD['w']}}}r"
            etree.SubElement(equation, f"{{{_WORD['w']}}}t").text = words
        parts[name] = etree.tostring(text, encoding="UTF-8")
    shown = BytesIO()
    with ZipFile(shown, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return shown.getvalue()


def _check_safe(content: bytes) -> None:
    """Refuse a file that is locked, not a Word file, or too large when unpacked."""
    if content.startswith(OLE):
        if _ENCRYPTED in content:
            raise UnreadableDocument("it is locked with a password. Save it without one.")
        raise UnreadableDocument("it is an old Word file (.doc). Save it as .docx.")
    try:
        with ZipFile(BytesIO(content)) as archive:
            parts = archive.infolist()
    except (BadZipFile, NotImplementedError) as error:
        raise UnreadableDocument(f"it is damaged ({error}). Export it afresh.") from None
    texts = [part.file_size for part in parts if not part.filename.startswith("word/media/")]
    largest = max(texts, default=0)
    unpacked = sum(part.file_size for part in parts)
    if len(parts) > MAX_PARTS or unpacked > MAX_UNPACKED_BYTES or largest > MAX_TEXT_BYTES:
        raise UnreadableDocument(
            f"it unpacks to {unpacked:,} bytes in {len(parts):,} parts, the largest text of "
            f"{largest:,}; at most {MAX_UNPACKED_BYTES:,}, {MAX_PARTS:,} and {MAX_TEXT_BYTES:,} "
            "are read. Make its pictures smaller, or export it as Markdown."
        )
    if not any(part.filename == "[Content_Types].xml" for part in parts):
        raise UnreadableDocument("it is a ZIP archive, not a Word file. Save it as .docx.")
