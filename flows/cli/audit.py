"""`evergreen audit`: who changed the warehouse, when and how."""

from typing import Annotated

import polars as pl
import typer

from flows.cli.options import FormatOption, WarehouseOption
from flows.cli.warehouse import open_to_read
from flows.display.console import print_message
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.warehouse.audit import AuditEntry, notes_folder, read_notes
from tasks.warehouse.columns import list_columns
from tasks.warehouse.errors import WarehouseBusy
from tasks.warehouse.location import DEFAULT_LOCATION, Location
from tasks.warehouse.store import Readable
from tasks.warehouse.writer import arrow_table

SHOWN = ("began_at", "name", "os_user", "host", "edition", "outcome", "error", "seconds")
"""The columns that fit a terminal."""


def audit(
    edition: Annotated[
        str | None, typer.Option("--edition", help="Only what was done to this edition.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Only the latest; all if not given.")
    ] = None,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """List who changed the warehouse, when, by which command or run, and how it ended.

    The latest comes first. What shows as begun is at work, or was killed. Parameters, and the ids
    of deployments and runs, are in JSON and CSV; secrets are hidden in them.
    """
    with open_to_read(warehouse) as source:
        if source.notice:
            raise WarehouseBusy(f"{warehouse} is in use, and its snapshots have no audit")
        entries = _load_entries(source, warehouse)
    if edition is not None:
        of_edition = pl.col("edition").str.split(", ").list.contains(edition)
        entries = entries.filter(of_edition.fill_null(False))
    shown = entries.head(limit) if limit else entries
    if form is Format.TABLE:
        shown = shown.select(SHOWN).with_columns(
            pl.col("began_at").dt.strftime("%Y-%m-%d %H:%M:%S"), pl.col("seconds").round(1)
        )
    print_frame(shown, form)
    if any(notes_folder(warehouse).glob("*.json")):
        print_message(
            f"Some are still files in {notes_folder(warehouse)}; the next command that writes to "
            "the warehouse takes them in.",
            "dim",
        )


def _load_entries(source: Readable, warehouse: Location) -> pl.DataFrame:
    """Load the rows, and those that are still files, the latest first."""
    columns = ", ".join(f'"{column.name}"' for column in list_columns(AuditEntry))
    kept = source.frame(f"SELECT {columns} FROM audit")
    notes = [entry for _, entry in read_notes(warehouse)]
    waiting = pl.DataFrame(arrow_table(AuditEntry, notes))
    every = pl.concat([kept, waiting.cast(dict(kept.schema))])  # type: ignore[arg-type]
    last = every.sort("ended_at", nulls_last=False, maintain_order=True)
    unique = last.unique("audit_id", keep="last", maintain_order=True)
    return unique.sort("began_at", "audit_id", descending=[True, False])
