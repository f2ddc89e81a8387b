"""Tables that never truncate a figure: headings are wrapped between words. Of columns that do not
fit the width, a terminal leaves out the least needed, and says so; the others go into further
tables below."""

from collections.abc import Sequence
from textwrap import wrap
from typing import NamedTuple

from rich import box
from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.measure import Measurement
from rich.table import Table

LONGEST_WORD = 40
"""Characters; longer ones are addresses and hashes."""
UNBOUNDED_WIDTH = 10_000
"""Characters, for measuring a table's natural width."""


class WideColumn(NamedTuple):
    """A column of a wide table, with a cell for every row."""

    heading: str
    cells: Sequence[str]
    justify: JustifyMethod = "right"
    style: str = ""
    spare: int = 0
    """How soon a narrow terminal does without it, the highest first; 0: never."""


def print_wide_table(
    console: Console,
    title: str,
    keys: Sequence[WideColumn],
    columns: Sequence[WideColumn],
    sections: Sequence[int] = (),
) -> None:
    """Print columns of cells under a title.

    Args:
        title: no title if empty.
        keys: columns that identify a row; repeated in every table.
        columns: the other columns.
        sections: rows, from 0, with an empty line above.
    """
    if title:
        console.print(title, style="italic", highlight=False)
    kept = _leave_out(keys, columns, console) if console.is_terminal else columns
    for part in _split_columns(keys, kept, console):
        console.print(build_table([*keys, *part], sections))
    _print_left_out(columns, kept, console)


def print_text_table(console: Console, columns: Sequence[WideColumn]) -> None:
    """Print columns whose texts are wrapped between words, where the words fit."""
    kept = list(columns)
    while (
        console.is_terminal
        and sum(map(_measure_words, kept)) > _measure_room(kept, console)
        and (first := max(kept, key=lambda column: column.spare)).spare
    ):
        kept.remove(first)
    console.print(build_table(kept, widths=_share_room(kept, _measure_room(kept, console))))
    _print_left_out(columns, kept, console)


def _print_left_out(
    columns: Sequence[WideColumn], kept: Sequence[WideColumn], console: Console
) -> None:
    if left_out := [column.heading for column in columns if column not in kept]:
        console.print(
            f"No room for {', '.join(left_out)} (a wider terminal or --format csv shows them).",
            style="dim",
            highlight=False,
        )


def _measure_room(columns: Sequence[WideColumn], console: Console) -> int:
    """Return the characters that a table has for its columns' texts."""
    return console.width - 2 * len(columns)


def _measure_words(column: WideColumn) -> int:
    """Return the width of the longest word; what is longer than any word may be cut anywhere."""
    words = [word for text in (column.heading, *column.cells) for word in text.split()]
    return min(max(map(cell_len, words), default=1), LONGEST_WORD)


def _measure_lines(column: WideColumn) -> int:
    lines = [line for text in (column.heading, *column.cells) for line in text.splitlines()]
    return max(map(cell_len, lines), default=1)


def _share_room(columns: Sequence[WideColumn], room: int) -> Sequence[int] | None:
    """Return widths that need the room and cut no word; None if that is not needed or possible."""
    widths, least = list(map(_measure_lines, columns)), list(map(_measure_words, columns))
    if sum(widths) <= room or sum(least) > room:
        return None
    while sum(widths) > room:
        widest = max(range(len(widths)), key=lambda n: (widths[n] > least[n], widths[n]))
        widths[widest] -= 1
    return widths


def _leave_out(
    keys: Sequence[WideColumn], columns: Sequence[WideColumn], console: Console
) -> Sequence[WideColumn]:
    """Leave out columns that can be spared until the others fit, with their headings wrapped."""
    kept = list(columns)
    while (
        kept
        and _measure_width([*keys, *map(_wrap_heading, kept)], console) > console.width
        and (first := max(kept, key=lambda column: column.spare)).spare
    ):
        kept.remove(first)
    return kept


def _split_columns(
    keys: Sequence[WideColumn], columns: Sequence[WideColumn], console: Console
) -> Sequence[Sequence[WideColumn]]:
    if _measure_width([*keys, *columns], console) <= console.width:
        return [columns]
    parts: list[list[WideColumn]] = [[]]
    for column in map(_wrap_heading, columns):
        if parts[-1] and _measure_width([*keys, *parts[-1], column], console) > console.width:
            parts.append([])
        parts[-1].append(column)
    return parts


def _wrap_heading(column: WideColumn) -> WideColumn:
    """Wrap the heading to the width of its longest word and the cells."""
    least = max(map(len, [*column.heading.split(), *column.cells]), default=1)
    return column._replace(heading="\n".join(wrap(column.heading, max(least, 1))))


def _measure_width(columns: Sequence[WideColumn], console: Console) -> int:
    options = console.options.update(max_width=UNBOUNDED_WIDTH)
    return Measurement.get(console, options, build_table(columns)).maximum


def build_table(
    columns: Sequence[WideColumn],
    sections: Sequence[int] = (),
    widths: Sequence[int] | None = None,
) -> Table:
    """Build a table whose texts are printed verbatim. sections: as in `print_wide_table`."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for number, column in enumerate(columns):
        table.add_column(
            column.heading,
            justify=column.justify,
            style=column.style,
            overflow="fold",
            width=widths[number] if widths else None,
        )
    for number, cells in enumerate(zip(*(column.cells for column in columns), strict=True)):
        if number in sections:
            table.add_section()
        table.add_row(*cells)
    return table
