"""Print a data frame as a table, JSON or CSV."""

import sys
from collections.abc import Sequence
from typing import IO

import polars as pl

from flows.display.console import STDOUT
from flows.display.formats import Format, format_json
from flows.display.wide_table import WideColumn, print_text_table
from tasks.base import format_count
from tasks.foreign_text import make_visible
from tasks.spreadsheets import format_csv


def print_frame(frame: pl.DataFrame, form: Format, spare: Sequence[str] = ()) -> None:
    """Print a frame in the given format.

    spare: columns that a narrow terminal leaves out, the last ones first.
    """
    if form is Format.JSON:
        print(format_json(frame.to_dicts()))
    elif form is Format.CSV:
        print_csv(frame, sys.stdout)
    else:
        columns = [
            WideColumn(
                column.name,
                [_format_cell(value) for value in column.to_list()],
                "right" if column.dtype.is_numeric() else "left",
                spare=spare.index(column.name) + 1 if column.name in spare else 0,
            )
            for column in frame.iter_columns()
        ]
        print_text_table(STDOUT, columns)
        STDOUT.print(format_count(frame.height, "row"), style="dim")


def print_csv(frame: pl.DataFrame, to: IO[str]) -> None:
    """Print a frame as CSV, which has no way to escape what acts on a terminal: there it is shown
    by its code points."""
    text = format_csv(frame)
    to.write(make_visible(text) if to.isatty() else text)


def _format_cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)
