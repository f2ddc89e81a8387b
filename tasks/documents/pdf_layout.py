"""Convert the lines of a PDF to Markdown paragraphs, headings, items and tables.

A paragraph ends with its tag; without tags it ends where the next line differs in style, follows
at a larger distance, or could have been avoided because its first word would have fitted.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from tasks.documents.pdf_marks import is_citation
from tasks.documents.pdf_paragraphs import ENDS_IN_ADDRESS, Vocabulary, join_lines
from tasks.documents.pdf_words import BULLETS, RAISED_NUMBER, PdfLine, measure_size

MIN_HEADING = 1.12
"""A line whose letters are this many times as large as the body text's is a heading."""
MAX_HEADING_CHARACTERS = 250
MAX_BOLD_LINE = 90
MAX_PITCH = 1.45
"""Largest distance between lines of a paragraph, in multiples of the usual one."""
MIN_LINES_FOR_EDGE = 4
"""Lines that must begin at the same x before their ends tell the right edge."""

_BULLET = re.compile(rf"[{BULLETS}–-]")
_DASHES = frozenset("–-")
_NUMBER = re.compile(r"\(?\d{1,3}[.)]")
_BRACKETED = re.compile(r"(?:\[\d{1,3}\])+")
_ADDRESS = re.compile(r"<?https?://")
_ENTRY = re.compile(rf"{RAISED_NUMBER.pattern}|<?https?://\S*")
_LINE_MARK = re.compile(r"(?=#{1,6}(?:\s|$)|[>|]|[-+*](?:\s|$))")
_SENTENCE_END = re.compile(r"[.!?:;]['\"”’)\]\d]*(?: \[?\d{1,3}\]?)*$")


@dataclass(frozen=True, slots=True)
class PdfTable:
    """A table, with the lines of each cell."""

    page: int
    rows: tuple[tuple[tuple[PdfLine, ...], ...], ...]


@dataclass(slots=True)
class _PdfBlock:
    level: int | None
    """A heading's level; None for text."""
    lines: list[PdfLine] = field(default_factory=list)


def to_markdown(parts: Sequence[PdfLine | PdfTable]) -> str:
    """Convert a document's lines and tables, in order, to Markdown."""
    lines = [part for part in parts if isinstance(part, PdfLine)]
    if not parts:
        return ""
    writer = _PdfWriter(lines, parts)
    written: list[str] = []
    last_is_item = False
    for block in writer.group_blocks(parts):
        text, is_item = writer.format_block(block)
        if text:
            written.append(("\n" if is_item and last_is_item else "\n\n") + text)
            last_is_item = is_item
    return "".join(written).strip() + "\n"


class _PdfWriter:
    def __init__(self, lines: Sequence[PdfLine], parts: Sequence[PdfLine | PdfTable]) -> None:
        rows = [row for part in parts if isinstance(part, PdfTable) for row in part.rows]
        cells = [line for row in rows for cell in row for line in cell]
        self._vocabulary = Vocabulary.from_lines([*lines, *cells])
        self._body = measure_size(lines)
        larger = sorted({x.size for x in lines if self._is_large(x)}, reverse=True)
        self._levels = {size: min(n, 6) for n, size in enumerate(larger, start=1)}
        self._edges = _find_right_edges(lines)
        self._pitch = _measure_pitch(lines, self._body)

    def group_blocks(self, parts: Sequence[PdfLine | PdfTable]) -> Iterator[_PdfBlock | PdfTable]:
        """Group the lines that belong together."""
        block: _PdfBlock | None = None
        table: PdfTable | None = None
        for part in parts:
            if isinstance(part, PdfTable):
                if block is not None:
                    yield block
                    block = None
                if table is not None and _continues(table, part):
                    repeated = _head_words(table) == _head_words(part)
                    following = part.rows[1:] if repeated else part.rows
                    table = PdfTable(part.page, table.rows + following)
                    continue
                if table is not None:
                    yield table
                table = part
                continue
            if table is not None:
                if part.place is None and set(part.text.split()) <= set(_head_words(table).split()):
                    continue  # the table's head, repeated on the next page
                yield table
                table = None
            level = self._level(part)
            if block is None or block.level != level or self._begins_block(block, part):
                if block is not None:
                    yield block
                block = _PdfBlock(level)
            block.lines.append(part)
        yield from (end for end in (table, block) if end is not None)

    def format_block(self, block: _PdfBlock | PdfTable) -> tuple[str, bool]:
        """Format a block as Markdown, and tell whether it is a list item."""
        if isinstance(block, PdfTable):
            return self._format_table(block), False
        text = join_lines(block.lines, self._vocabulary)
        if block.level is not None:
            return f"{'#' * block.level} {text}", False
        first, _, rest = text.partition(" ")
        place = block.lines[0].place
        is_item = place is not None and place.item
        if rest and _BULLET.fullmatch(first):
            return f"- {rest.lstrip()}", True
        if _BULLET.fullmatch(text):
            return "", False
        if not is_item and _is_bold_line(block, text):
            return f"**{text.replace('*', '')}**", False
        if rest and _NUMBER.fullmatch(first):
            return f"{first.strip('().')}. {rest.lstrip()}", True
        if is_item:
            return f"- {text}", True
        return _LINE_MARK.sub(r"\\", text, count=1) if _LINE_MARK.match(text) else text, False

    def _is_large(self, line: PdfLine) -> bool:
        return line.size >= MIN_HEADING * self._body and len(line.text) <= MAX_HEADING_CHARACTERS

    def _level(self, line: PdfLine) -> int | None:
        if line.place is not None and line.place.block:
            return line.place.heading
        return self._levels[line.size] if self._is_large(line) else None

    def _begins_block(self, block: _PdfBlock, line: PdfLine) -> bool:
        """Return whether a line begins a new paragraph after a block's lines."""
        last, level = block.lines[-1], block.level
        first = block.lines[0].words[0]
        if is_citation(first) and all(word.url == first.url for word in line.words):
            return False  # the address to which an entry's number leads
        close = 0 <= line.top - last.top <= MAX_PITCH * self._pitch or last.page < line.page
        if level is None and close and all(map(is_citation, line.words)):
            return False  # numbers that did not fit into the last line
        end = last.words[-1]
        cites = ENDS_IN_ADDRESS.search(last.text) or (end.url and not is_citation(end))
        if cites and all(_ENTRY.fullmatch(x.words[0].text) for x in (block.lines[0], line)):
            return True  # an entry behind the address of the one before
        if _spells_out(line):
            return True
        one, other = (part.place.block if part.place else 0 for part in (last, line))
        if last.page != line.page:
            return (
                level is not None
                or _is_label(last, line)
                or _SENTENCE_END.search(last.text) is not None
                or self._ends_early(last, line)
            )
        tagged = one > 0 and other > 0
        if tagged and one != other:
            return True
        if level is not None:
            return not tagged and line.top - last.top > 2 * max(line.size, last.size)
        if self._ends_early(last, line):
            return True
        if tagged:
            return False
        pitch = line.top - last.top
        return (
            _is_label(last, line)
            or abs(line.size - last.size) > 1
            or pitch > MAX_PITCH * self._pitch
            or pitch < 0
            or (last.bold and not line.bold and len(last.text) <= MAX_BOLD_LINE)
        )

    def _ends_early(self, last: PdfLine, line: PdfLine) -> bool:
        """Return whether the last line ended although the next word would have fitted."""
        edge = self._edges.get((last.page, round(last.x0 / 3)), self._edges.get((last.page, -1)))
        if edge is None:
            return False
        word = line.words[0]
        if (word.framed or last.words[-1].framed) and not _SENTENCE_END.search(last.text):
            return False  # the frame takes room, too
        blank = 0.35 * line.size
        return last.x1 + blank + (word.x1 - word.x0) < edge - 0.2 * line.size

    def _format_table(self, table: PdfTable) -> str:
        rows = [
            [join_lines(cell, self._vocabulary).replace("|", "\\|") for cell in row]
            for row in table.rows
        ]
        rows = [row for row in rows if any(row)]
        width = max((len(row) for row in rows), default=0)
        if not width:
            return ""
        rows = [row + [""] * (width - len(row)) for row in rows]
        written = [f"| {' | '.join(row)} |" for row in rows]
        return "\n".join([written[0], f"|{' --- |' * width}", *written[1:]])


def _spells_out(line: PdfLine) -> bool:
    """Return whether a line is an entry: a number with a link, and the address that it leads to."""
    number, *rest = line.words
    leads = number.url if is_citation(number) else None
    spelled = (word.text.strip("<>") for word in rest if _ADDRESS.match(word.text))
    return leads is not None and any(leads.startswith(address) for address in spelled)


def _is_bold_line(block: _PdfBlock, text: str) -> bool:
    """Return whether a paragraph serves as a heading: short, and all bold."""
    bold = all(line.bold for line in block.lines)
    return bold and len(text) <= MAX_BOLD_LINE and not text.endswith(".") and "](" not in text


def _is_label(last: PdfLine, line: PdfLine) -> bool:
    """Return whether a line begins an item, with a bullet, a number or a bracketed number."""
    first = line.words[0].text
    if len(line.words) < 2 or (first in _DASHES and not _SENTENCE_END.search(last.text)):
        return False
    if _BRACKETED.fullmatch(first):
        return not _BRACKETED.fullmatch(last.words[-1].text)  # else it continues those numbers
    return any(p.fullmatch(first) for p in (_BULLET, _NUMBER))


def _find_right_edges(lines: Sequence[PdfLine]) -> dict[tuple[int, int], float]:
    """Find the right edge of lines, by page and start; start -1 stands for the whole page."""
    ends: dict[tuple[int, int], list[float]] = defaultdict(list)
    for line in lines:
        begin = round(line.x0 / 3)
        for key in (begin - 1, begin, begin + 1):
            ends[line.page, key].append(line.x1)
        ends[line.page, -1].append(line.x1)
    # One in ten lines may protrude: an unbreakable URL.
    return {
        key: sorted(found)[len(found) - 1 - len(found) // 10]
        for key, found in ends.items()
        if key[1] == -1 or len(found) >= MIN_LINES_FOR_EDGE
    }


def _measure_pitch(lines: Sequence[PdfLine], body: float) -> float:
    """Return the usual distance between lines of body text, in points."""
    pitches = [
        line.top - last.top
        for last, line in pairwise(lines)
        if last.page == line.page and last.size == line.size == body and line.top > last.top
    ]
    near = [pitch for pitch in pitches if pitch <= 2.2 * body]
    return median(near) if near else 1.3 * body


def _continues(table: PdfTable, following: PdfTable) -> bool:
    """Return whether a table continues on the next page."""
    width = {len(row) for row in table.rows}
    return following.page == table.page + 1 and width == {len(row) for row in following.rows}


def _head_words(table: PdfTable) -> str:
    """Return the words of a table's head."""
    return " ".join(line.text for cell in table.rows[0] for line in cell)
