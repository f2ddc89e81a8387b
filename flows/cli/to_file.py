"""An answer to the terminal or into a file, in the format chosen or the file name's."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from flows.display.console import ANSWERS, remark
from flows.display.formats import Format

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
