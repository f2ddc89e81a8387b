"""The text of PDFs that are cited, page by page, through PDFium."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime

from pypdfium2 import PdfDocument, PdfiumError

from tasks.base import Frozen
from tasks.web.plain_text import read_text

LOCKED = "it is locked with a password"
EARLIEST_YEAR = 1990
"""PDF is from 1993; an earlier date is of a clock that was never set."""
_HYPHENATED = re.compile("[\ufffe\x02]\r?\n?")
"""PDFium's sign for a hyphen at the end of a line, where one word goes on."""
_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?")
_NO_TITLE = re.compile(
    r"microsoft \w+ - .*|untitled.*|(?:slide|document) ?\d*|\(.*\)|\S+\.\w{2,5}|[\W\d_]*",
    re.IGNORECASE,
)
"""What programs write where nobody wrote a title; a file's name is none."""


class UnreadPdf(Exception):
    """A PDF that cannot be read; says why."""


class PdfText(Frozen):
    """What a PDF says."""

    text: str
    title: str | None = None
    published_on: date | None = None
    """When it was made, by itself."""
    n_pages: int
    n_read: int
    n_without_text: int
    """Of those read: scanned, or drawn."""


def read_pdf(content: bytes, most_pages: int) -> PdfText:
    """The first pages of a PDF.

    Raises:
        UnreadPdf: it is damaged or locked.
    """
    try:
        pdf = PdfDocument(content)
    except PdfiumError as error:
        reason = LOCKED if "password" in str(error).lower() else f"it is damaged ({error})"
        raise UnreadPdf(reason) from None
    try:
        n_pages = len(pdf)
        pages = [read_text(page) for page in _pages(pdf, min(n_pages, most_pages))]
        told = pdf.get_metadata_dict()
    finally:
        pdf.close()
    return PdfText(
        text="\n\n".join(page for page in pages if page),
        title=_title(told.get("Title", "")),
        published_on=_day(told.get("CreationDate", "")),
        n_pages=n_pages,
        n_read=len(pages),
        n_without_text=sum(not page for page in pages),
    )


def _pages(pdf: PdfDocument, n_pages: int) -> Iterator[str]:
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


def _title(said: str) -> str | None:
    title = " ".join(said.replace("\x00", "").split())[:1000]
    return None if _NO_TITLE.fullmatch(title) else title


def _day(said: str) -> date | None:
    found = _DATE.match(said)
    if not found or not found[2] or not found[3] or int(found[1]) < EARLIEST_YEAR:
        return None
    try:
        day = date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None
    return day if day <= datetime.now(UTC).date() else None
