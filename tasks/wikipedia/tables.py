"""Convert data tables to Markdown: repeat spanning cells, drop empty columns."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from tasks.extraction.headings import is_reference_heading
from tasks.wikipedia.dom import Element, Walk, split_names
from tasks.wikipedia.inline import InlineText, escape_words

MAX_COLUMNS = 100
"""Further columns are left out."""
MAX_COPIED = 1_000_000
"""Characters that spans may copy in one table, against `rowspan="65534"` everywhere."""

_INLINE = split_names(
    "a abbr b bdi bdo big cite code data del dfn em font i ins kbd mark q rb rp rt rtc ruby s samp",
    "small span strike strong sub sup time tt u var wbr",
)
_REFERENCE_COLUMN = re.compile(r"refs?\.?", re.IGNORECASE)


@dataclass(frozen=True)
class MarkdownTable:
    """A table's caption (empty without one) and its Markdown lines (none if it is empty)."""

    caption: str
    lines: tuple[str, ...]


def is_inline(tag: str) -> bool:
    """Return whether elements with this tag are inline."""
    return tag in _INLINE


def is_data_table(element: Element) -> bool:
    """Return whether a table holds data; other tables only lay out the page."""
    if "presentation" in (element.attributes.get("role") or ""):
        return False
    if "wikitable" in element.classes:
        return True
    return any(cell.tag == "th" for row in _rows(element.node) for cell in _cells(row))


def read_table(node: LexborNode) -> MarkdownTable:
    """Read a data table. A spanning cell is repeated in every cell it covers, as published."""
    grid: list[list[str]] = []
    has_head = False
    spans = _SpanExpander()
    for row in _rows(node):
        cells = list(_cells(row))
        texts = spans.expand_row(cells)
        if not any(texts):
            continue
        grid.append(texts)
        if len(grid) == 1:
            has_head = all(cell.tag == "th" or not cell_text(cell.node) for cell in cells)
    caption = next((c for c in _children(node) if c.tag == "caption"), None)
    title = cell_text(caption.node) if caption else ""
    return MarkdownTable(caption=title, lines=_format_lines(grid, has_head))


def cell_text(node: LexborNode) -> str:
    """Return a cell's content in one line; semicolons separate the items of a list."""
    inline = InlineText()
    for event in Walk(node):
        if event[0] == "text":
            inline.add(event[1])
            continue
        tag = event[1].tag
        if tag == "sup":
            inline.begin_superscript() if event[0] == "enter" else inline.end_superscript()
        elif tag == "li" and event[0] == "leave" and _has_next_item(event[1].node):
            inline.add("; ")
        elif not is_inline(tag):
            inline.add(" ")
    return inline.to_text()


class _SpanExpander:
    """Expands rows of cells into texts, repeating cells that span columns and rows."""

    def __init__(self) -> None:
        self._spanning: dict[int, tuple[int, str]] = {}
        """By column, the number of further rows that a cell covers, and its text."""
        self._copies_left = MAX_COPIED

    def expand_row(self, cells: Sequence[Element]) -> list[str]:
        """Return the texts of one row, one for each column."""
        texts: dict[int, str] = {}
        below: dict[int, tuple[int, str]] = {}
        for column, (rows, text) in self._spanning.items():
            texts[column] = text
            if rows > 1 and self._may_copy(text):
                below[column] = (rows - 1, text)
        column = 0
        for cell in cells:
            while column in texts:
                column += 1
            if column >= MAX_COLUMNS:
                break
            text = cell_text(cell.node)
            rows = cell.int_attribute("rowspan", 1, 65534)
            width = cell.int_attribute("colspan", 1, MAX_COLUMNS - column)
            for place in range(column, column + width):
                if place > column and (place in texts or not self._may_copy(text)):
                    break
                texts[place] = text
                if rows > 1 and self._may_copy(text):
                    below[place] = (rows - 1, text)
        self._spanning = below
        return [texts.get(place, "") for place in range(max(texts, default=-1) + 1)]

    def _may_copy(self, text: str) -> bool:
        self._copies_left -= len(text) + 1
        return self._copies_left >= 0


def _format_lines(grid: list[list[str]], has_head: bool) -> tuple[str, ...]:
    """Format the Markdown lines. A table without a head gets an empty one, as Markdown demands."""
    head, body = (grid[0], grid[1:]) if has_head else ([], grid)
    filled = {column for row in body for column, text in enumerate(row) if text}
    filled |= {c for c, text in enumerate(head) if text and not _is_reference_column(text)}
    kept = sorted(filled)
    if not kept:
        return ()
    head += [""] * (kept[-1] + 1 - len(head))
    return (
        _format_row(head[column] for column in kept),
        _format_row("---" for _ in kept),
        *(_format_row(row[column] for column in kept if column < len(row)) for row in body),
    )


def _format_row(cells: Iterable[str]) -> str:
    escaped = (escape_words(cell).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def _is_reference_column(head: str) -> bool:
    return _REFERENCE_COLUMN.fullmatch(head) is not None or is_reference_heading(head)


def _has_next_item(node: LexborNode) -> bool:
    following = node.next
    while following is not None and not following.is_element_node:
        following = following.next
    return following is not None and following.tag == "li"


def _rows(table: LexborNode) -> Iterator[LexborNode]:
    for child in _children(table):
        if child.tag == "tr":
            yield child.node
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from (row.node for row in _children(child.node) if row.tag == "tr")


def _cells(row: LexborNode) -> Iterator[Element]:
    return (cell for cell in _children(row) if cell.tag in ("td", "th"))


def _children(node: LexborNode) -> Iterator[Element]:
    """Yield a node's child elements, without noise."""
    walk = Walk(node)
    for event in walk:
        if event[0] == "enter":
            yield event[1]
            walk.skip()
