"""How an answer is written, to the terminal or a file, and how a command that ran a flow ends."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import polars as pl
import typer
from rich.console import Console

from flows.display.console import ANSWERS, remark
from flows.display.formats import Format


def end(complete: bool, outcome: str, form: Format = Format.TABLE, **answers: pl.DataFrame) -> None:
    """Say how the run ended; exit code 1 unless everything was done.

    Args:
        outcome: in words; a remark, and part of the answer as JSON.
        form: JSON prints one object: `complete`, `outcome`, and each of the answers as a list of
            records. In the other forms they have been printed before.

    Raises:
        typer.Exit: not everything was done.
    """
    if form is Format.JSON:
        record = {"complete": complete, "outcome": outcome}
        listed = {name: frame.to_dicts() for name, frame in answers.items()}
        print(json.dumps(record | listed, ensure_ascii=False, default=str, indent=1))
    remark(outcome)
    if not complete:
        raise typer.Exit(1)


ToFile = Annotated[
    Path | None,
    typer.Option("--to", help="Write it to this file, in the format chosen or its name's."),
]
WIDE = 120
"""Characters of a table in a file."""


def answer(to: Path | None, form: Format, write: Callable[[Format, Console], None]) -> None:
    """Have it written: to stdout without a file.

    Raises:
        typer.BadParameter: the file cannot be written to.
    """
    if to is None:
        write(form, ANSWERS)
        return
    if form is Format.TABLE and to.suffix.lstrip(".") in (Format.CSV, Format.JSON):
        form = Format(to.suffix.lstrip("."))
    try:
        with to.open("w", encoding="utf-8") as file:
            write(form, Console(file=file, width=WIDE))
    except OSError as error:
        raise typer.BadParameter(
            f"{to} cannot be written to: {error.strerror or error}", param_hint="to"
        ) from None
    remark(f"Written to {to}.")
