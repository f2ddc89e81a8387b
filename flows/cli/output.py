"""Write results to the terminal or a file, and print the outcome of a flow's run."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import polars as pl
import typer
from rich.console import Console

from flows.display.console import STDOUT, VisibleConsole, print_message
from flows.display.formats import Format, format_json
from flows.display.frame import print_csv


def print_outcome(
    complete: bool,
    outcome: str,
    form: Format = Format.TABLE,
    answers: Mapping[str, pl.DataFrame] = MappingProxyType({}),
    next_step: str = "",
) -> None:
    """Print how the run ended; exit with 1 unless everything was done.

    Args:
        outcome: a message about how the run ended, also part of the JSON.
        form: JSON prints one object: `complete`, `outcome`, and each of the answers as a list of
            records. In other formats the caller has printed the answers.
        next_step: a message about what comes next.

    Raises:
        typer.Exit: not everything was done.
    """
    if form is Format.JSON:
        record = {"complete": complete, "outcome": outcome}
        listed = {name: frame.to_dicts() for name, frame in answers.items()}
        print(format_json(record | listed))
    print_message(outcome)
    if next_step:
        print_message(next_step)
    if not complete:
        raise typer.Exit(1)


OutputFileOption = Annotated[
    Path | None,
    typer.Option("--output", help="Write to this file, in the given format or that of its name."),
]
FILE_WIDTH = 120
"""The width of a table in a file, in characters."""


def write_output(to: Path | None, form: Format, write: Callable[[Format, Console], None]) -> None:
    """Call `write` with a file's console, or with stdout if no file is given.

    Raises:
        typer.BadParameter: the file is not writable.
    """
    if to is None:
        write(form, STDOUT)
        return
    if form is Format.TABLE and to.suffix.lstrip(".") in (Format.CSV, Format.JSON):
        form = Format(to.suffix.lstrip("."))
    with refuse_unwritable(to, "--output"), to.open("w", encoding="utf-8") as file:
        write(form, VisibleConsole(file=file, width=FILE_WIDTH))
    print_message(f"Written to {to}.")


@contextmanager
def refuse_unwritable(to: Path, option: str = "--to") -> Iterator[None]:
    """Turn an error of writing to the place that an option names into wrong usage.

    Raises:
        typer.BadParameter: the file or folder is not writable.
    """
    try:
        yield
    except OSError as error:
        raise typer.BadParameter(
            f"cannot write to {to}: {error.strerror or error}", param_hint=option
        ) from None


def write_tables(
    tables: Mapping[str, pl.DataFrame], form: Format, to: Console, **record: object
) -> None:
    """Write tables for programs: as JSON one object, which begins with the record; as CSV one
    table whose first column names the part."""
    if form is Format.JSON:
        rows = record | {name: frame.to_dicts() for name, frame in tables.items()}
        to.file.write(format_json(rows) + "\n")
    else:
        every = [f.select(pl.lit(name).alias("table"), pl.all()) for name, f in tables.items()]
        print_csv(pl.concat(every, how="diagonal"), to.file)
