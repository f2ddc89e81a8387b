"""Options that several commands have."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from flows.show import Format
from tasks.protocols.registry import PROTOCOLS

WAREHOUSE_OPTION = typer.Option(
    "--warehouse", envvar="EVERGREEN_WAREHOUSE", help="The DuckDB file that holds everything."
)
PROTOCOL_HELP = (
    f"One of {', '.join(sorted(PROTOCOLS))}, or a rubric of your own by its file or name; may be "
    "given again. Those made for its kind of edition if not given."
)
WarehousePath = Annotated[Path, WAREHOUSE_OPTION]
Ended = Annotated[
    Literal["table", "json"], typer.Option("--format", help="How to say what the run did.")
]
Printed = Annotated[
    Literal["table", "json"], typer.Option("--format", help="How to print the answer.")
]
"""Of what is no table: CSV could not hold it."""
Shown = Annotated[Format, typer.Option("--format", help="How to print the answer.")]
