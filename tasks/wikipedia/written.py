"""The blocks of a text in Markdown: what stands above what, and how they are set apart."""

from dataclasses import dataclass

BOLD_LINE_LEVEL = 7
REMARK_LEVEL = 8
"""A line such as "Notes" below a table. Not bold, or it would be taken for the heading of
references; kept, because references are known by their classes and this may stand above prose."""


@dataclass(eq=False)
class Mark:
    """What a list item or quotation puts before its lines."""

    first: str
    rest: str
    list_number: int | None
    """Which outermost list it belongs to; None for a quotation."""
    shown: bool = False


@dataclass(frozen=True)
class Block:
    """Lines that belong together, marks included."""

    lines: tuple[str, ...]
    marks: tuple[Mark, ...]
    level: int | None = None
    """Of a heading: 2 to 6; 7 for a bold line, 8 for a remark like "Notes"; None for content."""
    begins_item: bool = False


def with_content_below(blocks: list[Block]) -> list[Block]:
    """The blocks without headings that have nothing below them. A bold line may stand alone."""
    kept: list[Block] = []
    reach = 0
    """Below this level a heading has something below it."""
    for block in reversed(blocks):
        if block.level in (None, BOLD_LINE_LEVEL):
            reach = REMARK_LEVEL + 1 if block.level is None else BOLD_LINE_LEVEL
        elif block.level < reach:
            reach = block.level
        else:
            continue
        kept.append(block)
    return kept[::-1]


def joined(blocks: list[Block]) -> str:
    """The text of the blocks."""
    parts: list[str] = []
    for before, block in zip([None, *blocks], blocks, strict=False):
        if before is not None:
            parts.append(_between(before, block))
        parts.append("\n".join(block.lines))
    return "".join(parts)


def _between(before: Block, block: Block) -> str:
    """What parts two blocks: a blank line, but nothing between the items of one list."""
    common = [a for a, b in zip(before.marks, block.marks, strict=False) if a is b]
    lists = [_list_number(before), _list_number(block)]
    if block.begins_item and lists[0] is not None and lists[0] == lists[1]:
        return "\n"
    return "\n" + "".join(mark.rest for mark in common).rstrip() + "\n"


def _list_number(block: Block) -> int | None:
    return block.marks[-1].list_number if block.marks else None
