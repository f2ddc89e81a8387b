"""The lines of a PDF as Markdown: paragraphs, headings, items and tables.

A paragraph ends where its tag does; without tags where the next line is set otherwise, stands
further below than lines do, or where the line's end was meant: the next word would have fitted.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from tasks.documents.pdf_joining import BEGINS_ADDRESS, ENDS_IN_ADDRESS, Vocabulary, markdown
from tasks.documents.pdf_words import Line

MIN_HEADING = 1.12
"""A line in letters this many times as large as the text's is a heading."""
MAX_HEADING_CHARACTERS = 250
MAX_BOLD_LINE = 90
MAX_PITCH = 1.45
"""From line to line of a paragraph, in usual distances."""
MIN_LINES_FOR_EDGE = 4
"""As many lines must begin at a place before the longest of them tells where lines end."""

_BULLET = re.compile(r"[•◦▪▫‣⁃●○■□·∙–\uf0b7\uf0a7\uf0d8\ufffd-]")
"""Also those of Word's own fonts, and a mark that cannot be told: it stands alone like one."""
_DASHES = frozenset("–-")
_NUMBER = re.compile(r"\(?\d{1,3}[.)]")
_BRACKETED = re.compile(r"(?:\[\d{1,3}\])+")
_BARE = re.compile(r"(?:\[\d{1,3}\])+|\d{1,3}")
_LINE_MARK = re.compile(r"(?=#{1,6}(?:\s|$)|[>|]|[-+*](?:\s|$))")
_SENTENCE_END = re.compile(r"[.!?:;]['\"”’)\]\d]*$")


@dataclass(frozen=True, slots=True)
class Table:
    """A table's lines, by cell."""

    page: int
    rows: tuple[tuple[tuple[Line, ...], ...], ...]


@dataclass(slots=True)
class _Block:
    level: int | None
    """Of a heading; None for text."""
    lines: list[Line] = field(default_factory=list)


def to_markdown(parts: Sequence[Line | Table]) -> str:
    """A document's lines and tables, in order, as Markdown."""
    lines = [part for part in parts if isinstance(part, Line)]
    if not parts:
        return ""
    writer = _Writer(lines, parts)
    written: list[str] = []
    last_is_item = False
    for block in writer.blocks(parts):
        text, is_item = writer.written(block)
        if text:
            written.append(("\n" if is_item and last_is_item else "\n\n") + text)
            last_is_item = is_item
    return "".join(written).strip() + "\n"


class _Writer:
    def __init__(self, lines: Sequence[Line], parts: Sequence[Line | Table]) -> None:
        cells = [
            line for part in parts if isinstance(part, Table)
            for row in part.rows for cell in row for line in cell
        ]  # fmt: skip
        self._vocabulary = Vocabulary.of([*lines, *cells])
        sizes: Counter[float] = Counter()
        for line in lines:
            sizes[line.size] += len(line.text)
        self._body = sizes.most_common(1)[0][0] if sizes else 0.0
        larger = sorted({x.size for x in lines if self._is_large(x)}, reverse=True)
        self._levels = {size: min(n, 6) for n, size in enumerate(larger, start=1)}
        self._edges = _right_edges(lines)
        self._pitch = _usual_pitch(lines, self._body)

    def blocks(self, parts: Sequence[Line | Table]) -> Iterator[_Block | Table]:
        """Lines that belong together."""
        block: _Block | None = None
        table: Table | None = None
        for part in parts:
            if isinstance(part, Table):
                if block is not None:
                    yield block
                    block = None
                if table is not None and _continues(table, part):
                    table = Table(part.page, table.rows + _without_head(table, part))
                    continue
                if table is not None:
                    yield table
                table = part
                continue
            if table is not None:
                if part.place is None and set(part.text.split()) <= set(_words(table).split()):
                    continue  # its head, repeated on its next page
                yield table
                table = None
            level = self._level(part)
            if block is None or block.level != level or self._begins(block, part):
                if block is not None:
                    yield block
                block = _Block(level)
            block.lines.append(part)
        yield from (end for end in (table, block) if end is not None)

    def written(self, block: _Block | Table) -> tuple[str, bool]:
        """A block as Markdown, and whether it is an item of a list."""
        if isinstance(block, Table):
            return self._table(block), False
        text = markdown(block.lines, self._vocabulary)
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

    def _is_large(self, line: Line) -> bool:
        return line.size >= MIN_HEADING * self._body and len(line.text) <= MAX_HEADING_CHARACTERS

    def _level(self, line: Line) -> int | None:
        if line.place is not None and line.place.block:
            return line.place.heading
        return self._levels[line.size] if self._is_large(line) else None

    def _begins(self, block: _Block, line: Line) -> bool:
        """Whether a line begins a paragraph after those of a block."""
        last, level = block.lines[-1], block.level
        if _begins_entry(block.lines, line):
            return True
        one, other = last.place, line.place
        if last.page != line.page:
            return (
                level is not None
                or _is_label(last, line)
                or _SENTENCE_END.search(last.text) is not None
                or self._was_ended(last, line)
            )
        tagged = one is not None and other is not None and one.block > 0 and other.block > 0
        if tagged and one is not None and other is not None and one.block != other.block:
            return True
        if level is not None:
            return not tagged and line.top - last.top > 2 * max(line.size, last.size)
        if self._was_ended(last, line):
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

    def _was_ended(self, last: Line, line: Line) -> bool:
        """Whether the line before ended although the next word would have fitted in it."""
        edge = self._edges.get((last.page, round(last.x0 / 3)), self._edges.get((last.page, -1)))
        if edge is None:
            return False
        word = line.words[0]
        blank = 0.35 * line.size
        return last.x1 + blank + (word.x1 - word.x0) < edge - 0.2 * line.size

    def _table(self, table: Table) -> str:
        rows = [
            [markdown(cell, self._vocabulary).replace("|", "\\|") for cell in row]
            for row in table.rows
        ]
        rows = [row for row in rows if any(row)]
        width = max((len(row) for row in rows), default=0)
        if not width:
            return ""
        rows = [row + [""] * (width - len(row)) for row in rows]
        written = [f"| {' | '.join(row)} |" for row in rows]
        return "\n".join([written[0], f"|{' --- |' * width}", *written[1:]])


def _is_bold_line(block: _Block, text: str) -> bool:
    """Whether a paragraph serves as a heading: short, and all of it bold."""
    bold = all(line.bold for line in block.lines)
    return bold and len(text) <= MAX_BOLD_LINE and not text.endswith(".") and "](" not in text


def _is_label(last: Line, line: Line) -> bool:
    """Whether a line begins an item: with a bullet, a number, a number in brackets."""
    first = line.words[0].text
    if len(line.words) < 2 or (first in _DASHES and not _SENTENCE_END.search(last.text)):
        return False
    if _BRACKETED.fullmatch(first):
        return not _BRACKETED.fullmatch(last.words[-1].text)  # else its numbers go on
    return any(p.fullmatch(first) for p in (_BULLET, _NUMBER))


def _begins_entry(before: Sequence[Line], line: Line) -> bool:
    """Whether a line begins an entry of a list of sources that has no marks of a list."""
    address = BEGINS_ADDRESS.match(line.words[0].text) is not None
    if address and len(before[-1].words) == 1:
        return BEGINS_ADDRESS.match(before[-1].words[0].text) is not None
    if _BRACKETED.fullmatch(before[-1].words[-1].text):
        return False  # its numbers go on
    label = _BARE if ENDS_IN_ADDRESS.search(before[-1].text) else _BRACKETED
    labels = [label.fullmatch(x.words[0].text) for x in (before[0], line)]
    return len(line.words) > 1 and all(labels)


def _right_edges(lines: Sequence[Line]) -> dict[tuple[int, int], float]:
    """Where lines end, by page and by where they begin; at -1 for all of a page."""
    ends: dict[tuple[int, int], list[float]] = defaultdict(list)
    for line in lines:
        begin = round(line.x0 / 3)
        for key in (begin - 1, begin, begin + 1):
            ends[line.page, key].append(line.x1)
        ends[line.page, -1].append(line.x1)
    # One in ten may stand out: an address that nothing could break.
    return {
        key: sorted(found)[len(found) - 1 - len(found) // 10]
        for key, found in ends.items()
        if key[1] == -1 or len(found) >= MIN_LINES_FOR_EDGE
    }


def _usual_pitch(lines: Sequence[Line], body: float) -> float:
    """From line to line of the text, in points."""
    pitches = [
        line.top - last.top
        for last, line in pairwise(lines)
        if last.page == line.page and last.size == line.size == body and line.top > last.top
    ]
    near = [pitch for pitch in pitches if pitch <= 2.2 * body]
    return median(near) if near else 1.3 * body


def _continues(table: Table, following: Table) -> bool:
    """Whether a table goes on on the next page."""
    width = {len(row) for row in table.rows}
    return following.page == table.page + 1 and width == {len(row) for row in following.rows}


def _without_head(table: Table, following: Table) -> tuple[tuple[tuple[Line, ...], ...], ...]:
    """The rows of a table's next page, without its head if that is repeated there."""
    repeated = _words(table) == _words(following)
    return following.rows[1:] if repeated else following.rows


def _words(table: Table) -> str:
    """The words of a table's head."""
    return " ".join(line.text for cell in table.rows[0] for line in cell)
