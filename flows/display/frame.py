"""Print a data frame as a table, JSON or CSV."""

from typing import Any

import polars as pl
from rich import box
from rich.markup import escape
from rich.table import Table

from flows.display.console import STDOUT
from flows.display.formats import Format, format_json
from tasks.base import format_count


def print_frame(frame: pl.DataFrame, form: Format) -> None:
    """Print a frame in the given format."""
    if form is Format.JSON:
        print(format_json(frame.to_dicts()))
    elif form is Format.CSV:
        print(frame.write_csv(), end="")
    else:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
        for name, kind in frame.schema.items():
            justify: Any = "right" if kind.is_numeric() else "left"
            table.add_column(name, justify=justify, overflow="fold")
        for row in frame.iter_rows():
            table.add_row(*(_format_cell(value) for value in row))
        STDOUT.print(table)
        STDOUT.print(format_count(frame.height, "row"), style="dim")


def _format_cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return escape(str(value))
