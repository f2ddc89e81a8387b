"""`evergreen schema`: describe the warehouse's tables and views, for SQL queries."""

from typing import Annotated

import polars as pl
import typer

from flows.cli.options import FormatOption
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.editions.names import UnknownName
from tasks.errors import suggest_names
from tasks.warehouse.descriptions import TableDescription, load_descriptions


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
    print_frame(_list_columns(known[name]), form)


def _list_columns(of: TableDescription) -> pl.DataFrame:
    return pl.DataFrame(
        [{"column": c.name, "type": c.kind, "what": c.text or ""} for c in of.columns]
    )
