"""PDFs into Markdown: by their tags where they have some, by their layout where not."""

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from io import BytesIO

import pdfplumber
from pdfminer.pdfdocument import PDFPasswordIncorrect
from pdfminer.pdftypes import PDFStream, resolve1
from pdfminer.psparser import PSException
from pdfplumber.page import Page
from pdfplumber.utils.exceptions import PdfminerException

from tasks.documents.document import MAX_PAGES, Document, UnreadableDocument, UnreadPage
from tasks.documents.pdf_layout import Table, to_markdown
from tasks.documents.pdf_tags import places
from tasks.documents.pdf_words import (
    Line,
    Word,
    lines_of,
    n_unknown,
    page_words,
    without_running_heads,
)

READER = f"pdfplumber {version('pdfplumber')}, layout 1"
MAX_UNKNOWN = 0.3
"""A page with a larger share of letters that nobody can tell counts as unread."""
MAX_BLANK_BYTES = 200
"""A page that shows nothing is blank if its description is no longer; else nobody can read it."""
MIN_CELLS = 4
MIN_FILLED = 0.4
"""Frames with fewer cells, or a smaller share of filled ones, are no tables."""


def read(content: bytes) -> Document:
    """The text of a PDF, page by page; pages without text are named."""
    try:
        pdf = pdfplumber.open(BytesIO(content))
    except PdfminerException as error:
        raise _unopened(error.args[0] if error.args else error) from None
    with pdf:
        n_pages = len(pdf.pages)
        if n_pages > MAX_PAGES:
            raise UnreadableDocument(
                f"it has {n_pages} pages; at most {MAX_PAGES} are read. Export the report alone."
            )
        if not n_pages:
            raise UnreadableDocument("it has no pages. Export it afresh.")
        lines: dict[int, list[Line]] = {}
        tables: dict[int, list[tuple[int, Table]]] = {}
        unread: list[UnreadPage] = []
        remarks: list[str] = []
        for page in pdf.pages:
            number = page.page_number
            try:
                words = _words(page)
                lines[number], tables[number] = _parts(page, words)
                if unknown := n_unknown(words):
                    remarks.append(f"page {number}: {unknown} letters cannot be told")
            except _UnreadPage as error:
                unread.append(error.page(number))
            except (MemoryError, RecursionError):
                raise
            except Exception as error:  # a broken page: the others may be sound
                said = " ".join(str(error).split())[:100]
                reason = f"damaged ({type(error).__name__}{': ' if said else ''}{said})"
                unread.append(UnreadPage(number=number, reason=reason))
            page.close()
        heights = {page.page_number: float(page.height) for page in pdf.pages}
    kept = {id(line) for line in without_running_heads(lines, heights)}
    parts = [
        part
        for number in lines
        for part in _in_order(lines[number], tables[number])
        if isinstance(part, Table) or id(part) in kept
    ]
    return Document(
        markdown=to_markdown(parts),
        media_type="application/pdf",
        reader=READER,
        n_pages=n_pages,
        unread_pages=tuple(unread),
        remarks=tuple(remarks),
    )


class _UnreadPage(Exception):
    """Nothing can be read of this page; says why."""

    def __init__(self, reason: str, to_be_seen: bool = True) -> None:
        super().__init__(reason)
        self._to_be_seen = to_be_seen

    def page(self, number: int) -> UnreadPage:
        return UnreadPage(number=number, reason=str(self), to_be_seen=self._to_be_seen)


def _unopened(error: object) -> UnreadableDocument:
    if isinstance(error, PDFPasswordIncorrect):
        return UnreadableDocument("it is locked with a password. Save it without one.")
    name = type(error).__name__ if isinstance(error, PSException) else "PDF"
    return UnreadableDocument(f"it is damaged ({name}: {error}). Export it afresh.")


def _words(page: Page) -> list[Word]:
    """The words of a page; none if it is blank."""
    words = page_words(page, places(page))
    if not words:
        n = len(page.images)
        if not n and not page.curves:
            if _n_content_bytes(page) > MAX_BLANK_BYTES and not (page.rects or page.lines):
                raise _UnreadPage("its content cannot be decoded", to_be_seen=False)
            return []  # blank
        raise _UnreadPage(f"no text, {n} picture{'s' if n != 1 else ''}" if n else "only drawings")
    if words and n_unknown(words) > MAX_UNKNOWN * sum(len(word.text) for word in words):
        raise _UnreadPage("its letters cannot be told: their fonts do not say which they are")
    return words


def _n_content_bytes(page: Page) -> int:
    """How long the description of a page is in the file."""
    streams = [resolve1(part) for part in page.page_obj.contents]
    lengths = [resolve1(s.attrs.get("Length")) for s in streams if isinstance(s, PDFStream)]
    return sum(length for length in lengths if isinstance(length, int))


def _parts(page: Page, words: Sequence[Word]) -> tuple[list[Line], list[tuple[int, Table]]]:
    """A page's lines outside of tables, and its tables with how many lines stand before each."""
    if any(word.place and word.place.table is not None for word in words):
        return _tagged_tables(page.page_number, words)
    return _ruled_tables(page, words)


def _tagged_tables(
    number: int, words: Sequence[Word]
) -> tuple[list[Line], list[tuple[int, Table]]]:
    lines: list[Line] = []
    cells: dict[int, dict[tuple[int, int], list[Line]]] = {}
    before: dict[int, int] = {}
    for line in lines_of(number, words):
        table = line.place.table if line.place else None
        if table is None or line.place is None:
            lines.append(line)
        else:
            before.setdefault(table, len(lines))
            place = (line.place.row, line.place.column)
            cells.setdefault(table, {}).setdefault(place, []).append(line)
    return lines, [(before[n], _grid(number, found)) for n, found in cells.items()]


def _ruled_tables(page: Page, words: Sequence[Word]) -> tuple[list[Line], list[tuple[int, Table]]]:
    """Tables whose cells are framed by lines; all other words as lines."""
    number = page.page_number
    taken: dict[int, tuple[int, tuple[int, int]]] = {}
    for n, found in enumerate(page.find_tables()):
        inside = {
            at: (n, (r, c))
            for r, row in enumerate(found.rows)
            for c, box in enumerate(row.cells)
            if box is not None
            for at, word in enumerate(words)
            if box[0] <= (word.x0 + word.x1) / 2 <= box[2]
            and box[1] <= (word.top + word.bottom) / 2 <= box[3]
        }
        n_cells = sum(box is not None for row in found.rows for box in row.cells)
        filled = len({place for _, place in inside.values()})
        wide = max((len(row.cells) for row in found.rows), default=0)
        if wide > 1 and n_cells >= MIN_CELLS and filled >= MIN_FILLED * n_cells:
            taken |= {at: place for at, place in inside.items() if at not in taken}
    lines: list[Line] = []
    before: dict[int, int] = {}
    in_cells: dict[int, dict[tuple[int, int], list[Word]]] = {}
    outside: list[Word] = []
    for at, word in enumerate(words):
        if at not in taken:
            outside.append(word)
            continue
        lines += lines_of(number, outside)
        outside = []
        n, place = taken[at]
        before.setdefault(n, len(lines))
        in_cells.setdefault(n, {}).setdefault(place, []).append(word)
    lines += lines_of(number, outside)
    tables = [
        (before[n], _grid(number, {p: list(lines_of(number, w)) for p, w in cells.items()}))
        for n, cells in in_cells.items()
    ]
    return lines, tables


def _grid(page: int, cells: dict[tuple[int, int], list[Line]]) -> Table:
    width = 1 + max(column for _, column in cells)
    rows = sorted({row for row, _ in cells})
    return Table(
        page, tuple(tuple(tuple(cells.get((r, c), ())) for c in range(width)) for r in rows)
    )


def _in_order(lines: Sequence[Line], tables: Sequence[tuple[int, Table]]) -> Iterator[Line | Table]:
    last = 0
    for before, table in tables:
        yield from lines[last:before]
        yield table
        last = max(last, before)
    yield from lines[last:]
