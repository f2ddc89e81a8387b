"""Extract the text of cited PDFs page by page, with PDFium."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime

from pypdfium2 import PdfDocument, PdfiumError

from tasks.web.page import ExtractedText, PageUnreadable
from tasks.web.plain_text import read_text

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
    remarks = []
    if len(pages) < n_pages:
        remarks.append(f"cut: {n_pages:,} pages, {len(pages):,} were read")
    if len(filled) < len(pages):
        remarks.append(f"{len(pages) - len(filled):,} of {len(pages):,} pages hold no text")
    return ExtractedText(
        text="\n\n".join(filled),
        title=_clean_title(metadata.get("Title", "")),
        published_on=_parse_day(metadata.get("CreationDate", "")),
        remarks=tuple(remarks),
    )


def _read_pages(pdf: PdfDocument, n_pages: int) -> Iterator[str]:
    for number in range(n_pages):
        try:
            page = pdf[number]
        except PdfiumError:  # a broken page: the others may be sound
            yield ""
            continue
        try:
            letters = page.get_textpage()
            yield _HYPHENATED.sub("", letters.get_text_range())
            letters.close()
        except PdfiumError:
            yield ""
        finally:
            page.close()


def _clean_title(text: str) -> str | None:
    title = " ".join(text.replace("\x00", "").split())[:1000]
    return None if _NO_TITLE.fullmatch(title) else title


def _parse_day(text: str) -> date | None:
    found = _DATE.match(text)
    if not found or not found[2] or not found[3] or int(found[1]) < EARLIEST_YEAR:
        return None
    try:
        day = date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None
    return day if day <= datetime.now(UTC).date() else None
