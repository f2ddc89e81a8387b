"""What a tagged PDF says of its own structure: which words are a heading, an item, a cell.

Word processors and browsers write this tree; where it is missing or broken the layout decides.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pdfplumber.page import Page
from pdfplumber.structure import PDFStructElement, PDFStructTree

_HEADINGS = {f"H{level}": level for level in range(1, 7)} | {"H": 2, "Title": 1}
_BLOCKS = frozenset(
    ["P", "LI", "Caption", "BlockQuote", "Note", "FENote", "Code", "TOCI", "Figure", "BibEntry",
     "Formula", "Aside"]
)  # fmt: skip
MAX_ELEMENTS = 50_000
"""Of one page; more are no structure but noise."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the structure a word stands."""

    block: int
    """Words of one paragraph, item, heading or cell share it; it is the page's own."""
    heading: int | None = None
    """1 is the highest."""
    item: bool = False
    """Of a list."""
    table: int | None = None
    row: int = 0
    column: int = 0


def places(page: Page) -> Mapping[int, Place]:
    """Place by marked content id; empty where the page is not tagged, or not soundly."""
    try:
        tree = PDFStructTree(page.pdf, page)
    except Exception:  # untagged, or broken in any of many ways: the layout decides
        return {}
    return dict(_walk(tree))


@dataclass(frozen=True, slots=True)
class _Within:
    place: Place
    item_is_new: bool = False
    """In a list item of which nothing has been read: its first paragraph is the item itself."""


def _walk(tree: PDFStructTree) -> Iterator[tuple[int, Place]]:
    n_blocks = n_tables = n_elements = 0
    rows: dict[int, int] = {}
    columns: dict[tuple[int, int], int] = {}
    open_elements = [(element, _Within(Place(0))) for element in reversed(tree.children)]
    while open_elements and n_elements < MAX_ELEMENTS:
        element, within = open_elements.pop()
        n_elements += 1
        place, kind = within.place, element.type
        new_item = within.item_is_new
        if kind == "Table" and place.table is None:
            n_tables += 1
            rows[n_tables] = -1
            place = Place(place.block, table=n_tables)
        elif place.table is not None:
            if kind == "TR":
                rows[place.table] += 1
                place = Place(place.block, table=place.table, row=rows[place.table])
            elif kind in ("TH", "TD"):
                n_blocks += 1
                at = (place.table or 0, place.row)
                column = columns.get(at, 0)
                columns[at] = column + _span(element)
                place = Place(n_blocks, table=place.table, row=place.row, column=column)
        elif kind in _HEADINGS:
            n_blocks += 1
            place, new_item = Place(n_blocks, heading=_HEADINGS[kind]), False
        elif kind == "P" and new_item:
            new_item = False
        elif kind in _BLOCKS:
            n_blocks += 1
            place, new_item = Place(n_blocks, item=kind == "LI"), kind == "LI"
        for mcid in element.mcids:
            yield mcid, place
        inner = [(child, _Within(place)) for child in element.children]
        if new_item:
            inner = _item_parts(inner)
        open_elements.extend(reversed(inner))


def _item_parts(
    inner: list[tuple[PDFStructElement, _Within]],
) -> list[tuple[PDFStructElement, _Within]]:
    """The parts of a list item: its label, and the body whose first paragraph belongs to it."""
    parts, waiting = [], True
    for child, within in inner:
        parts.append((child, _Within(within.place, waiting and child.type != "Lbl")))
        waiting = waiting and child.type == "Lbl"
    return parts


def _span(cell: PDFStructElement) -> int:
    span = cell.attributes.get("ColSpan", 1)
    return span if isinstance(span, int) and 1 <= span <= 100 else 1
