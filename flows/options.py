"""Options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

from flows.show import Format

WAREHOUSE_OPTION = typer.Option(
    "--warehouse", envvar="EVERGREEN_WAREHOUSE", help="The DuckDB file that holds everything."
)
WarehousePath = Annotated[Path, WAREHOUSE_OPTION]
Shown = Annotated[Format, typer.Option("--format", help="How to print the answer.")]
