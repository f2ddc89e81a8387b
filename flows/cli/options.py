"""Options that several commands have. Nothing here is slow to load: every help text needs it."""

from typing import Annotated, Literal

import typer

from flows.display.formats import Format
from tasks.warehouse.errors import WarehouseError
from tasks.warehouse.location import Location, location


def _located(text: str) -> Location:
    try:
        return location(text)
    except WarehouseError as error:
        raise typer.BadParameter(str(error)) from None


WAREHOUSE_OPTION = typer.Option(
    "--warehouse",
    envvar="EVERGREEN_WAREHOUSE",
    parser=_located,
    metavar="PATH|URL",
    help="What holds everything: a DuckDB file, or ducklake:postgres:…?files=… for several hosts.",
)
WarehouseAt = Annotated[Location, WAREHOUSE_OPTION]
Ended = Annotated[
    Literal["table", "json"], typer.Option("--format", help="How to say what the run did.")
]
Printed = Annotated[
    Literal["table", "json"], typer.Option("--format", help="How to print the answer.")
]
"""Of what is no table: CSV could not hold it."""
Shown = Annotated[Format, typer.Option("--format", help="How to print the answer.")]
