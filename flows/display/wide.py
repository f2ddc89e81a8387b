"""Tables that cut no figure: headings are wrapped between words, and the columns for which a line
has no room stand in further tables below."""

from collections.abc import Sequence
from textwrap import wrap
from typing import NamedTuple

from rich import box
from rich.console import Console, JustifyMethod
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

UNBOUNDED = 10_000
"""Characters: to find out how wide a table would be."""


class Column(NamedTuple):
    """A column with a cell for every row."""

    heading: str
    cells: Sequence[str]
    justify: JustifyMethod = "right"
    style: str = ""


def print_wide(
    to: Console,
    title: str,
    named: Sequence[Column],
    columns: Sequence[Column],
    sections: Sequence[int] = (),
) -> None:
    """Print columns of cells under a title.

    Args:
        title: none if empty.
        named: what says whose a row is: these stand in every table.
        columns: what is said of it.
        sections: rows, from 0, before which a line is left empty.
    """
    if title:
        to.print(escape(title), style="italic", highlight=False)
    for part in _parts(named, columns, to):
        to.print(_table([*named, *part], sections))


def _parts(
    named: Sequence[Column], columns: Sequence[Column], to: Console
) -> Sequence[Sequence[Column]]:
    if _width([*named, *columns], to) <= to.width:
        return [columns]
    parts: list[list[Column]] = [[]]
    for column in map(_narrow, columns):
        if parts[-1] and _width([*named, *parts[-1], column], to) > to.width:
            parts.append([])
        parts[-1].append(column)
    return parts


def _narrow(column: Column) -> Column:
    """With its heading in as many lines as its words and figures allow."""
    least = max(map(len, [*column.heading.split(), *column.cells]), default=1)
    return column._replace(heading="\n".join(wrap(column.heading, max(least, 1))))


def _width(columns: Sequence[Column], to: Console) -> int:
    options = to.options.update(max_width=UNBOUNDED)
    return Measurement.get(to, options, _table(columns)).maximum


def _table(columns: Sequence[Column], sections: Sequence[int] = ()) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for column in columns:
        table.add_column(
            escape(column.heading), justify=column.justify, style=column.style, overflow="fold"
        )
    for number, cells in enumerate(zip(*(column.cells for column in columns), strict=True)):
        if number in sections:
            table.add_section()
        table.add_row(*map(escape, cells))
    return table
