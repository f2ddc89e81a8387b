"""`evergreen sql`: run your own queries, also while a flow runs; `evergreen schema`: describe the
tables and views for them."""

import os
import sys
from typing import Annotated

import polars as pl
import typer

from flows.cli.options import FormatOption, WarehouseOption
from flows.display.console import print_always, print_message
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.editions.names import UnknownName
from tasks.errors import suggest_names
from tasks.warehouse.descriptions import load_descriptions
from tasks.warehouse.location import DEFAULT_LOCATION
from tasks.warehouse.reader import QueryLimits, run_query


def sql(
    select: Annotated[
        str, typer.Argument(help="One SELECT (or DESCRIBE, SHOW, EXPLAIN); - reads it from stdin.")
    ],
    seconds: Annotated[
        float, typer.Option(min=0.1, help="How long the query may take.")
    ] = QueryLimits.seconds,
    memory: Annotated[
        float, typer.Option(min=0.1, metavar="GB", help="How much memory it may take.")
    ] = QueryLimits.memory_gb,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Run a read-only SQL query on the warehouse; while a flow runs, on its last export."""
    query = sys.stdin.read() if select == "-" else select
    frame, notice = run_query(warehouse, query, QueryLimits(seconds, memory), _end_process)
    if notice:
        print_message(notice, style="yellow")
    print_frame(frame, form)


def _end_process() -> None:
    """End at once: nothing else ends a query that does not listen, and it holds nothing open for
    writing."""
    print_always("error: The query did not end in time, so its process ends.", style="red")
    os._exit(1)


def schema(
    name: Annotated[
        str | None,
        typer.Argument(metavar="TABLE", help="A table or view: its columns. All if not given."),
    ] = None,
    form: FormatOption = Format.TABLE,
) -> None:
    """Describe the warehouse's tables and views, or the columns of one."""
    known = load_descriptions()
    if name is None:
        rows = [
            {"name": each.name, "kind": each.kind, "columns": len(each.columns), "what": each.text}
            for each in known.values()
        ]
        print_frame(pl.DataFrame(rows), form)
        return
    if name not in known:
        raise UnknownName(f"There is no table or view {name!r}. {suggest_names(name, known)}")
    columns = [
        {"column": c.name, "type": c.kind, "what": c.text or ""} for c in known[name].columns
    ]
    print_frame(pl.DataFrame(columns), form)
