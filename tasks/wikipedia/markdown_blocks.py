"""Markdown blocks: drop headings without content, and join blocks with the right blank lines."""

from dataclasses import dataclass

BOLD_LINE_LEVEL = 7
REMARK_LEVEL = 8
"""Level of a line such as "Notes" below a table. It is not bold, so as not to pass for a heading of
references, but kept: references are recognised by their classes, and prose may follow."""


@dataclass(eq=False)
class LinePrefix:
    """What a list item or quotation puts before its first line and before the rest."""

    first: str
    rest: str
    list_number: int | None
    """Number of the outermost list it belongs to; None for a quotation."""
    is_written: bool = False


@dataclass(frozen=True)
class WikiBlock:
    """Lines that belong together, prefixes included."""

    lines: tuple[str, ...]
    prefixes: tuple[LinePrefix, ...]
    level: int | None = None
    """2 to 6 for a heading, 7 for a bold line, 8 for a remark like "Notes"; None for content."""
    begins_item: bool = False


def drop_empty_headings(blocks: list[WikiBlock]) -> list[WikiBlock]:
    """Drop headings with nothing below them. A bold line may stand alone."""
    kept: list[WikiBlock] = []
    reach = 0
    """A heading of a lower level than this has content below it."""
    for block in reversed(blocks):
        if block.level in (None, BOLD_LINE_LEVEL):
            reach = REMARK_LEVEL + 1 if block.level is None else BOLD_LINE_LEVEL
        elif block.level < reach:
            reach = block.level
        else:
            continue
        kept.append(block)
    return kept[::-1]


def join_blocks(blocks: list[WikiBlock]) -> str:
    """Join blocks into one text."""
    parts: list[str] = []
    for before, block in zip([None, *blocks], blocks, strict=False):
        if before is not None:
            parts.append(_separator(before, block))
        parts.append("\n".join(block.lines))
    return "".join(parts)


def _separator(before: WikiBlock, block: WikiBlock) -> str:
    """Return the separator of two blocks: a blank line, but none between items of one list."""
    common = [a for a, b in zip(before.prefixes, block.prefixes, strict=False) if a is b]
    lists = [_list_number(before), _list_number(block)]
    if block.begins_item and lists[0] is not None and lists[0] == lists[1]:
        return "\n"
    return "\n" + "".join(prefix.rest for prefix in common).rstrip() + "\n"


def _list_number(block: WikiBlock) -> int | None:
    return block.prefixes[-1].list_number if block.prefixes else None
