"""A table of data as Markdown: spans spread over the cells they cover, empty columns gone."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from tasks.extraction.blocks import is_reference_heading
from tasks.wikipedia.dom import Element, Walk
from tasks.wikipedia.inline import Run, escaped_words
from tasks.wikipedia.noise import names

MAX_COLUMNS = 100
"""Cells further to the right are left out."""
MAX_COPIED = 1_000_000
"""Characters that spans may copy in one table; `rowspan="65534"` everywhere would be a bomb."""

_INLINE = names(
    "a abbr b bdi bdo big cite code data del dfn em font i ins kbd mark q rb rp rt rtc ruby s samp",
    "small span strike strong sub sup time tt u var wbr",
)
_REFERENCE_COLUMN = re.compile(r"refs?\.?", re.IGNORECASE)


@dataclass(frozen=True)
class Table:
    """A table's caption (empty without one) and its Markdown lines (none if it is empty)."""

    caption: str
    lines: tuple[str, ...]


def is_inline(tag: str) -> bool:
    """Whether an element of this name stands within a line."""
    return tag in _INLINE


def is_data(element: Element) -> bool:
    """Whether a table holds data; other tables only arrange the page."""
    if "presentation" in (element.attributes.get("role") or ""):
        return False
    if "wikitable" in element.classes:
        return True
    return any(cell.tag == "th" for row in _rows(element.node) for cell in _cells(row))


def read_table(node: LexborNode) -> Table:
    """A data table. A cell that spans several places stands in each of them, as published."""
    grid: list[list[str]] = []
    has_head = False
    spread = _Spread()
    for row in _rows(node):
        cells = list(_cells(row))
        texts = spread.row(cells)
        if not any(texts):
            continue
        grid.append(texts)
        if len(grid) == 1:
            has_head = all(cell.tag == "th" or not cell_text(cell.node) for cell in cells)
    caption = next((c for c in _children(node) if c.tag == "caption"), None)
    return Table(
        caption=cell_text(caption.node) if caption else "",
        lines=_lines(grid, has_head),
    )


def cell_text(node: LexborNode) -> str:
    """All that a cell holds in one line; the items of a list are parted by semicolons."""
    run = Run()
    for event in Walk(node):
        if event[0] == "text":
            run.text(event[1])
            continue
        tag = event[1].tag
        if tag == "sup":
            run.raised() if event[0] == "enter" else run.lowered()
        elif tag == "li" and event[0] == "leave" and _has_next_item(event[1].node):
            run.text("; ")
        elif not is_inline(tag):
            run.text(" ")
    return run.taken()


class _Spread:
    """Rows of texts, with what cells above and to the left reach into them."""

    def __init__(self) -> None:
        self._reaching: dict[int, tuple[int, str]] = {}
        """Column to how many more rows a cell covers there, and its text."""
        self._left_to_copy = MAX_COPIED

    def row(self, cells: Sequence[Element]) -> list[str]:
        """The texts of one row, for each column."""
        texts: dict[int, str] = {}
        below: dict[int, tuple[int, str]] = {}
        for column, (rows, text) in self._reaching.items():
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
            rows = cell.number("rowspan", 1, 65534)
            width = cell.number("colspan", 1, MAX_COLUMNS - column)
            for place in range(column, column + width):
                if place > column and (place in texts or not self._may_copy(text)):
                    break
                texts[place] = text
                if rows > 1 and self._may_copy(text):
                    below[place] = (rows - 1, text)
        self._reaching = below
        return [texts.get(place, "") for place in range(max(texts, default=-1) + 1)]

    def _may_copy(self, text: str) -> bool:
        self._left_to_copy -= len(text) + 1
        return self._left_to_copy >= 0


def _lines(grid: list[list[str]], has_head: bool) -> tuple[str, ...]:
    """Markdown lines. A table without a head gets an empty one: Markdown demands it."""
    head, body = (grid[0], grid[1:]) if has_head else ([], grid)
    filled = {column for row in body for column, text in enumerate(row) if text}
    filled |= {c for c, text in enumerate(head) if text and not _is_reference_column(text)}
    kept = sorted(filled)
    if not kept:
        return ()
    head += [""] * (kept[-1] + 1 - len(head))
    return (
        _line(head[column] for column in kept),
        _line("---" for _ in kept),
        *(_line(row[column] for column in kept if column < len(row)) for row in body),
    )


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(_escaped(cell) for cell in cells)} |"


def _escaped(cell: str) -> str:
    return escaped_words(cell).replace("|", "\\|")


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
    """The elements right under a node, without noise."""
    walk = Walk(node)
    for event in walk:
        if event[0] == "enter":
            yield event[1]
            walk.skip()
