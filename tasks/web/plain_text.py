"""Read text pages other than HTML: plain text, JSON, XML, feeds, PDFs (with PDFium); and the text
that a page of HTML carries as JSON, for search engines or for scripts that render it."""

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime

import orjson
from lxml import etree
from pypdfium2 import PdfDocument, PdfiumError
from selectolax.lexbor import LexborHTMLParser

from tasks.warehouse.rows import replace_surrogates
from tasks.web.page import ExtractedText, PageUnreadable

ARTICLE_FIELDS = ("articleBody", "reviewBody", "text", "description")
"""schema.org fields that hold a work's text."""
MAX_JSON_BYTES = 5_000_000
PROSE_SAMPLE = 500
"""Characters at the start of a string that are checked for prose."""
_DATED = ("datePublished", "dateCreated", "uploadDate")
_LINKED_DATA = "script[type='application/ld+json']"
_APPLICATION = "script[type='application/json']"
_TAGS = re.compile(r"<[^<>]{1,500}>")
_PROSE = re.compile(r"(?:[^\W\d_]{2,40}\W{1,9}){2}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{6}")
"""More than two words, or six characters of a script without spaces."""
_CODE = re.compile(r"^[\w$.:/?&=%#\[\]@+-]*$|https?://\S+$|[{};]\s*$|^[.#@]?[\w-]+\s*\{")
LOCKED = "it is locked with a password"
EARLIEST_YEAR = 1990
"""PDF dates from 1993; an earlier date comes from a clock that was never set."""
_HYPHENATED = re.compile("[\ufffe\x02]\r?\n?")
"""PDFium's mark for a word hyphenated at the end of a line."""
_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?")
_NO_TITLE = re.compile(
    r"microsoft \w+ - .*|untitled.*|(?:slide|document) ?\d*|\(.*\)|\S+\.\w{2,5}|[\W\d_]*",
    re.IGNORECASE,
)
"""Placeholders that programs write as titles, and file names."""
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
    root = parse_xml(text)
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
    errors = root.getroottree().parser.error_log.filter_from_errors()
    remarks: tuple[str, ...] = ()
    if len(errors):
        damage = replace_surrogates(" ".join(errors[0].message.split())[:200])
        remarks = (f"damaged XML, some of it may be missing: {damage}",)
    return ExtractedText(text=read_text("\n".join(lines)), title=title, remarks=remarks)


def parse_xml(text: str) -> etree._Element | None:
    """Return an XML document's root, as far as it can be read; None for what is none."""
    parser = etree.XMLParser(
        recover=True,
        resolve_entities=False,
        no_network=True,
        encoding="utf-8",
        remove_pis=True,
        remove_comments=True,
    )
    try:
        return etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def _element_text(text: str | None) -> str:
    text = (text or "").strip()
    if _MARKUP.search(text):
        body = LexborHTMLParser(text).body
        text = body.text(separator=" ").strip() if body is not None else text
    return text


def read_pdf(content: bytes, most_pages: int) -> ExtractedText:
    """Read the first pages of a PDF.

    Raises:
        PageUnreadable: it is damaged or locked, or holds no text.
    """
    try:
        pdf = PdfDocument(content)
    except PdfiumError as error:
        reason = LOCKED if "password" in str(error).lower() else f"it is damaged ({error})"
        raise PageUnreadable(reason) from None
    try:
        n_pages = len(pdf)
        pages = [read_text(page) for page in _read_pages(pdf, min(n_pages, most_pages))]
        metadata = pdf.get_metadata_dict()
    finally:
        pdf.close()
    filled = [page for page in pages if page]
    if not filled:
        raise PageUnreadable(f"its {n_pages} pages hold no text: scanned or drawn")
    title = " ".join(metadata.get("Title", "").replace("\x00", "").split())[:1000]
    remarks = []
    if len(pages) < n_pages:
        remarks.append(f"cut: {n_pages:,} pages, {len(pages):,} were read")
    if len(filled) < len(pages):
        remarks.append(f"{len(pages) - len(filled):,} of {len(pages):,} pages hold no text")
    return ExtractedText(
        text="\n\n".join(filled),
        title=None if _NO_TITLE.fullmatch(title) else title,
        published_on=_parse_day(metadata.get("CreationDate", "")),
        remarks=tuple(remarks),
    )


def _read_pages(pdf: PdfDocument, n_pages: int) -> Iterator[str]:
    for number in range(n_pages):
        try:
            with closing(pdf[number]) as page, closing(page.get_textpage()) as letters:
                text = letters.get_text_range()
        except PdfiumError:  # a broken page: the others may be sound
            text = ""
        yield _HYPHENATED.sub("", text)


def _parse_day(text: str) -> date | None:
    found = _DATE.match(text)
    if not found or not found[2] or not found[3] or int(found[1]) < EARLIEST_YEAR:
        return None
    try:
        day = date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None
    return day if day <= datetime.now(UTC).date() else None


def find_article_bodies(tree: LexborHTMLParser) -> list[str]:
    """Return the texts of works that the page's linked data describes, the longest last."""
    found = {
        str(value): None
        for name, value in _iterate_fields(tree, _LINKED_DATA)
        if name in ARTICLE_FIELDS and isinstance(value, str) and _PROSE.search(value[:PROSE_SAMPLE])
    }
    return sorted((_strip_tags(text) for text in found), key=len)


def find_publication_dates(tree: LexborHTMLParser) -> Iterator[str]:
    """Yield the publication dates in the page's linked data."""
    for wanted in _DATED:
        for name, value in _iterate_fields(tree, _LINKED_DATA):
            if name == wanted and isinstance(value, str):
                yield value


def find_script_texts(tree: LexborHTMLParser) -> list[str]:
    """Return what reads like prose in the JSON from which scripts render the page."""
    found = {
        _strip_tags(value): None
        for _, value in _iterate_fields(tree, _APPLICATION)
        if isinstance(value, str)
        and _PROSE.search(start := value[:PROSE_SAMPLE])
        and not _CODE.search(start)
    }
    return list(found)


def _iterate_fields(tree: LexborHTMLParser, selector: str) -> Iterator[tuple[str, object]]:
    for script in tree.css(selector):
        text = script.text().strip()
        if len(text) > MAX_JSON_BYTES:
            continue
        try:
            yield from _walk(orjson.loads(text))
        except orjson.JSONDecodeError:  # also raised for too deep nesting
            continue


def _walk(value: object) -> Iterator[tuple[str, object]]:
    """Yield every (name, value) pair in document order; a list's items have the list's name."""
    waiting: list[tuple[str, object]] = [("", value)]
    while waiting:
        name, item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend((key, item[key]) for key in reversed(item))
        elif isinstance(item, list):
            waiting.extend((name, inner) for inner in reversed(item))
        else:
            yield name, item


def _strip_tags(text: str) -> str:
    return _TAGS.sub(" ", text).strip() if "<" in text else text.strip()
