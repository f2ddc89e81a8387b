"""How a command that ran a flow ends: what it says, and its exit code."""

import json

import polars as pl
import typer

from flows.display.console import remark
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
