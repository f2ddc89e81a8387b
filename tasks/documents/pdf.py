"""Convert PDFs to Markdown, by their tags if they have any, else by their layout."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from io import BytesIO
from typing import Any

import pdfplumber
from pdfminer.pdfdocument import PDFPasswordIncorrect
from pdfminer.pdftypes import PDFStream, resolve1
from pdfminer.psparser import PSException
from pdfplumber.page import Page
from pdfplumber.utils.exceptions import PdfminerException

from tasks.documents.document import MAX_PAGES, ParsedDocument, UnreadableDocument, UnreadablePage
from tasks.documents.pdf_layout import PdfTable, to_markdown
from tasks.documents.pdf_marks import place_marks
from tasks.documents.pdf_tags import read_tag_places
from tasks.documents.pdf_words import (
    PdfLine,
    PdfWord,
    count_unknown,
    drop_running_heads,
    extract_words,
    group_lines,
)
from tasks.documents.picture import PictureCollector

READER = f"pdfplumber {version('pdfplumber')}, layout 2"
MAX_UNKNOWN = 0.3
"""A page with a larger share of undecodable letters counts as unread."""
MAX_BLANK_BYTES = 200
"""A page that shows nothing is blank up to this content size; above it, it is unreadable."""
MIN_CELLS = 4
MIN_FILLED = 0.4
"""Frames with fewer cells, or a smaller share of filled ones, are not tables."""
MAX_FRAME_HEIGHT = 2.0
MAX_FRAME_GAP = 1.2
"""In multiples of the letters' size: how high the frame of a word is at most, and how far from it
the next word. Cells are larger."""
MAX_FRAMES = 2_000
"""Frames looked at on one page; a drawing has more."""
_Box = tuple[float, float, float, float]
"""x0, top, x1, bottom."""


def read(content: bytes) -> ParsedDocument:
    """Read the text of a PDF page by page, and list the pages that could not be read."""
    try:
        pdf = pdfplumber.open(BytesIO(content))
    except PdfminerException as error:
        raise _convert_open_error(error.args[0] if error.args else error) from None
    with pdf:
        n_pages = len(pdf.pages)
        if n_pages > MAX_PAGES:
            raise UnreadableDocument(
                f"it has {n_pages} pages; at most {MAX_PAGES} are read. Export the report alone."
            )
        if not n_pages:
            raise UnreadableDocument("it has no pages. Export it afresh.")
        parts: dict[int, list[PdfLine | PdfTable]] = {}
        unread: list[UnreadablePage] = []
        remarks: list[str] = []
        for page in pdf.pages:
            number = page.page_number
            try:
                words = _read_words(page)
                parts[number] = _split_tables(page, words)
                if unknown := count_unknown(words):
                    remarks.append(f"page {number}: {unknown} letters cannot be told")
            except _UnreadablePdfPage as error:
                unread.append(error.page(number))
            except (MemoryError, RecursionError):
                raise
            except Exception as error:  # a broken page: the others may be sound
                message = " ".join(str(error).split())[:100]
                reason = f"damaged ({type(error).__name__}{': ' if message else ''}{message})"
                unread.append(UnreadablePage(number=number, reason=reason))
            page.close()
        heights = {page.page_number: float(page.height) for page in pdf.pages}
    markdown = to_markdown(drop_running_heads(parts, heights))
    collector = PictureCollector()
    if markdown.strip():  # a scan is shown itself
        remarks += _collect_pictures(content, collector)
    return ParsedDocument(
        markdown=markdown,
        media_type="application/pdf",
        reader=READER,
        n_pages=n_pages,
        pictures=collector.pictures,
        unread_pages=tuple(unread),
        remarks=(*remarks, *collector.remarks),
    )


def _collect_pictures(content: bytes, collector: PictureCollector) -> tuple[str, ...]:
    """Collect the pictures; without them the text is still a report."""
    try:
        # Loads pdfium, which needs memory that a text alone does not.
        from tasks.documents.pdf_pictures import collect_pictures

        return collect_pictures(content, collector)
    except MemoryError:
        raise
    except Exception as error:  # another library than the text's, with errors of its own
        return (f"its pictures cannot be read ({type(error).__name__})",)


class _UnreadablePdfPage(Exception):
    """A page cannot be read; says why."""

    def __init__(self, reason: str, is_viewable: bool = True) -> None:
        super().__init__(reason)
        self._to_be_seen = is_viewable

    def page(self, number: int) -> UnreadablePage:
        return UnreadablePage(number=number, reason=str(self), is_viewable=self._to_be_seen)


def _convert_open_error(error: object) -> UnreadableDocument:
    if isinstance(error, PDFPasswordIncorrect):
        return UnreadableDocument("it is locked with a password. Save it without one.")
    name = type(error).__name__ if isinstance(error, PSException) else "PDF"
    return UnreadableDocument(f"it is damaged ({name}: {error}). Export it afresh.")


def _read_words(page: Page) -> list[PdfWord]:
    """Read the words of a page; none if it is blank."""
    words = place_marks(extract_words(page, read_tag_places(page)))
    if not words:
        n = len(page.images)
        if not n and not page.curves:
            if _count_content_bytes(page) > MAX_BLANK_BYTES and not (page.rects or page.lines):
                raise _UnreadablePdfPage("its content cannot be decoded", is_viewable=False)
            return []  # blank
        raise _UnreadablePdfPage(
            f"no text, {n} picture{'s' if n != 1 else ''}" if n else "only drawings"
        )
    if words and count_unknown(words) > MAX_UNKNOWN * sum(len(word.text) for word in words):
        raise _UnreadablePdfPage(
            "its letters cannot be told: their fonts do not say which they are"
        )
    return words


def _count_content_bytes(page: Page) -> int:
    """Count the bytes of a page's content streams."""
    streams = [resolve1(part) for part in page.page_obj.contents]
    lengths = [resolve1(s.attrs.get("Length")) for s in streams if isinstance(s, PDFStream)]
    return sum(length for length in lengths if isinstance(length, int))


def _split_tables(page: Page, words: Sequence[PdfWord]) -> list[PdfLine | PdfTable]:
    """Split a page into its tables and its lines outside of them, in order."""
    number = page.page_number
    page, words = _set_word_frames_apart(page, words)
    places = _find_tagged_cells(words) or _find_ruled_cells(page, words)
    parts: list[PdfLine | int] = []
    cells: dict[int, dict[tuple[int, int], list[PdfWord]]] = {}
    outside: list[PdfWord] = []
    for at, word in enumerate(words):
        if at not in places:
            outside.append(word)
            continue
        parts += group_lines(number, outside)
        outside = []
        table, cell = places[at]
        if table not in cells:
            parts.append(table)
        cells.setdefault(table, {}).setdefault(cell, []).append(word)
    parts += group_lines(number, outside)
    return [
        part if isinstance(part, PdfLine) else _build_table(number, cells[part]) for part in parts
    ]


CellPlaces = dict[int, tuple[int, tuple[int, int]]]
"""By index of a word: the number of its table, and the row and column of its cell."""


def _find_tagged_cells(words: Sequence[PdfWord]) -> CellPlaces:
    return {
        at: (word.place.table, (word.place.row, word.place.column))
        for at, word in enumerate(words)
        if word.place is not None and word.place.table is not None
    }


def _find_ruled_cells(page: Page, words: Sequence[PdfWord]) -> CellPlaces:
    """Find the words in tables whose cells are framed by ruled lines."""
    places: CellPlaces = {}
    for n, found in enumerate(page.find_tables()):
        inside = {
            at: (n, (r, c))
            for r, row in enumerate(found.rows)
            for c, box in enumerate(row.cells)
            if box is not None
            for at, word in enumerate(words)
            if word.is_within(box)
        }
        n_cells = sum(box is not None for row in found.rows for box in row.cells)
        filled = len({place for _, place in inside.values()})
        wide = max((len(row.cells) for row in found.rows), default=0)
        if wide > 1 and n_cells >= MIN_CELLS and filled >= MIN_FILLED * n_cells:
            places = inside | places
    return places


def _build_table(page: int, cells: dict[tuple[int, int], list[PdfWord]]) -> PdfTable:
    lines = {place: tuple(group_lines(page, words)) for place, words in cells.items()}
    width = 1 + max(column for _, column in lines)
    rows = sorted({row for row, _ in lines})
    return PdfTable(page, tuple(tuple(lines.get((r, c), ()) for c in range(width)) for r in rows))


def _set_word_frames_apart(page: Page, words: Sequence[PdfWord]) -> tuple[Page, list[PdfWord]]:
    """Return the page without the frames that hold a part of one line, and its words, with those
    in such frames marked.

    Such a frame is as high as its words, has text beside it, and none of the same width adjoins it
    above or below, as the cells of a column do.
    """
    boxes = dict.fromkeys(_box(shape) for shape in [*page.rects, *page.curves][:MAX_FRAMES])
    held = {box: inside for box in boxes if (inside := _find_held(box, words))}
    frames = {box for box in held if not any(_is_above(box, o) or _is_above(o, box) for o in boxes)}
    if not frames:
        return page, list(words)
    framed = {at for box in frames for at in held[box]}
    marked = [replace(w, framed=True) if at in framed else w for at, w in enumerate(words)]
    return page.filter(lambda shape: _box(shape) not in frames), marked


def _box(shape: Mapping[str, Any]) -> _Box:
    return shape["x0"], shape["top"], shape["x1"], shape["bottom"]


def _is_above(box: _Box, other: _Box) -> bool:
    alike = abs(box[0] - other[0]) < 1 and abs(box[2] - other[2]) < 1
    return alike and -1 <= other[1] - box[3] <= 3


def _find_held(box: _Box, words: Sequence[PdfWord]) -> list[int]:
    """Return the indices of the words in a box of one line with words beside it; else none."""
    x0, top, x1, bottom = box
    inside = [at for at, word in enumerate(words) if word.is_within(box)]
    size = max((words[at].size for at in inside), default=0.0)
    if bottom - top > MAX_FRAME_HEIGHT * size:
        return []
    gap = MAX_FRAME_GAP * size
    near = [w for w in words if w.x1 >= x0 - gap and w.x0 <= x1 + gap]
    n_near = sum(top <= (word.top + word.bottom) / 2 <= bottom for word in near)
    return inside if n_near > len(inside) else []
