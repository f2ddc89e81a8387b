"""Read a tagged PDF's structure tree: which words are a heading, an item or a cell.

Word processors and browsers write this tree; if it is missing or broken the layout decides.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pdfplumber.page import Page
from pdfplumber.structure import PDFStructElement, PDFStructTree

_HEADINGS = {f"H{level}": level for level in range(1, 7)} | {"H": 2, "Title": 1}
_BLOCKS = frozenset(
    ["P", "LI", "Caption", "BlockQuote", "Note", "FENote", "Code", "TOCI", "Figure", "BibEntry",
     "Formula", "Aside"]
)  # fmt: skip
MAX_ELEMENTS = 50_000
"""Elements read of one page; more are noise, not structure."""


@dataclass(frozen=True, slots=True)
class TagPlace:
    """A word's place in the structure."""

    block: int
    """Number shared by the words of one paragraph, item, heading or cell, unique on the page."""
    heading: int | None = None
    """1 is the highest."""
    item: bool = False
    """Whether it is a list item."""
    table: int | None = None
    row: int = 0
    column: int = 0


def read_tag_places(page: Page) -> Mapping[int, TagPlace]:
    """Read the place of each marked content id; empty if tags are missing or broken."""
    try:
        tree = PDFStructTree(page.pdf, page)
    except Exception:  # untagged or broken: the layout decides
        return {}
    return dict(walk_tags(tree.children))


@dataclass(frozen=True, slots=True)
class _TagContext:
    place: TagPlace
    item_is_new: bool = False
    """Whether no paragraph of the list item has been read: the first one is the item itself."""


def walk_tags(tree: Iterable[PDFStructElement]) -> Iterator[tuple[int, TagPlace]]:
    """Yield each marked content id of a page's elements with its place."""
    n_blocks = n_tables = n_elements = 0
    rows: dict[int, int] = {}
    columns: dict[tuple[int, int], int] = {}
    open_elements = [(element, _TagContext(TagPlace(0))) for element in reversed([*tree])]
    while open_elements and n_elements < MAX_ELEMENTS:
        element, within = open_elements.pop()
        n_elements += 1
        place, kind = within.place, element.type
        new_item = within.item_is_new
        if kind == "Table" and place.table is None:
            n_tables += 1
            rows[n_tables] = -1
            place = TagPlace(place.block, table=n_tables)
        elif place.table is not None:
            if kind == "TR":
                rows[place.table] += 1
                place = TagPlace(place.block, table=place.table, row=rows[place.table])
            elif kind in ("TH", "TD"):
                n_blocks += 1
                at = (place.table or 0, place.row)
                column = columns.get(at, 0)
                span = element.attributes.get("ColSpan", 1)
                columns[at] = column + (span if isinstance(span, int) and 1 <= span <= 100 else 1)
                place = TagPlace(n_blocks, table=place.table, row=place.row, column=column)
        elif kind in _HEADINGS:
            n_blocks += 1
            place, new_item = TagPlace(n_blocks, heading=_HEADINGS[kind]), False
        elif kind == "P" and new_item:
            new_item = False
        elif kind in _BLOCKS and not (kind == "Code" and place.block):  # a word of code
            n_blocks += 1
            place, new_item = TagPlace(n_blocks, item=kind == "LI"), kind == "LI"
        for mcid in element.mcids:
            yield mcid, place
        inner = [(child, _TagContext(place)) for child in element.children]
        if new_item:
            inner = _mark_item_parts(inner)
        open_elements.extend(reversed(inner))


def _mark_item_parts(
    inner: list[tuple[PDFStructElement, _TagContext]],
) -> list[tuple[PDFStructElement, _TagContext]]:
    """Mark the body of a list item, whose first paragraph belongs to the item."""
    parts, waiting = [], True
    for child, within in inner:
        parts.append((child, _TagContext(within.place, waiting and child.type != "Lbl")))
        waiting = waiting and child.type == "Lbl"
    return parts
