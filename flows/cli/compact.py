"""`evergreen compact`: a warehouse's files put in order."""

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from flows.cli.options import Printed, WarehouseAt
from flows.display.console import ANSWERS, REMARKS, insist, remark
from tasks.warehouse.compact import Compacted, compact_warehouse
from tasks.warehouse.lake_maintenance import KEPT_DAYS, Step
from tasks.warehouse.location import DEFAULT


def compact(
    keep_days: Annotated[
        float,
        typer.Option("--keep-days", min=1.0, help="How long a lake's earlier states are kept."),
    ] = KEPT_DAYS,
    form: Printed = "table",
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Put a lake's small files together, forget its earlier states, delete what nothing needs.

    Others may go on reading and writing meanwhile; what the tables hold stays the same. Files that
    are put together today are deleted by the compaction of tomorrow, when no query reads them any
    more. Of a DuckDB file, what it has not yet written into itself is written.
    """

    def on_progress(step: Step) -> None:
        of = f" of {step.table}" if step.table else ""
        if step.error:
            insist(f"{step.what}{of}: left out ({step.error}).", style="red")
        else:
            remark(f"{step.n:,} {step.what}{of}", style="dim")

    with REMARKS.status("Compacting …"):
        done = compact_warehouse(
            warehouse, keep_days=keep_days, on_wait=remark, on_progress=on_progress
        )
    if form == "json":
        print(json.dumps(asdict(done), indent=1))
    else:
        _print(done)
    if done.left_out:
        insist(f"{len(done.left_out)} steps were left out; run it again.", style="red")
        raise typer.Exit(1)


def _print(done: Compacted) -> None:
    table = Table("", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("Before", justify="right")
    table.add_column("After", justify="right")
    for name, after in done.after.items():
        before = done.before.get(name)
        table.add_row(name, "–" if before is None else f"{before:,}", f"{after:,}")
    ANSWERS.print(table)
