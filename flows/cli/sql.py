"""`evergreen sql`: a question of one's own, also while a flow runs."""

import sys
from typing import Annotated

import typer

from flows.cli.options import Shown, WarehouseAt
from flows.display.console import remark
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.warehouse.location import DEFAULT
from tasks.warehouse.reading import query


def sql(
    select: Annotated[
        str, typer.Argument(help="One SELECT (or DESCRIBE, SHOW, EXPLAIN); - reads it from stdin.")
    ],
    form: Shown = Format.TABLE,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Read-only SQL over the warehouse; while a flow runs, over its last export."""
    frame, notice = query(warehouse, sys.stdin.read() if select == "-" else select)
    if notice:
        remark(notice, style="yellow")
    print_frame(frame, form)
