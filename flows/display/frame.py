"""Print a data frame as a table, JSON or CSV."""

import polars as pl

from flows.display.console import STDOUT
from flows.display.formats import Format, format_json
from flows.display.wide_table import WideColumn, build_table
from tasks.base import format_count


def print_frame(frame: pl.DataFrame, form: Format) -> None:
    """Print a frame in the given format."""
    if form is Format.JSON:
        print(format_json(frame.to_dicts()))
    elif form is Format.CSV:
        print(frame.write_csv(), end="")
    else:
        columns = [
            WideColumn(
                column.name,
                [_format_cell(value) for value in column.to_list()],
                "right" if column.dtype.is_numeric() else "left",
            )
            for column in frame.iter_columns()
        ]
        STDOUT.print(build_table(columns))
        STDOUT.print(format_count(frame.height, "row"), style="dim")


def _format_cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)
