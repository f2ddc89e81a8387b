"""`evergreen compact`: compact a warehouse's files."""

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from flows.cli.options import TextOrJsonOption, WarehouseOption
from flows.display.console import STDERR, STDOUT, print_always, print_message
from tasks.warehouse.compaction import (
    KEPT_DAYS,
    CompactionResult,
    CompactionStep,
    compact_warehouse,
)
from tasks.warehouse.location import DEFAULT_LOCATION


def compact(
    keep_days: Annotated[
        float,
        typer.Option("--keep-days", min=1.0, help="How long a lake's earlier states are kept."),
    ] = KEPT_DAYS,
    form: TextOrJsonOption = "table",
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Merge a lake's small files, expire its earlier states, delete unused files.

    Others may read and write meanwhile; the tables' contents stay the same. Merged files are
    deleted by the next day's compaction, when no query reads them any more. For a DuckDB file it
    writes a checkpoint.
    """

    def on_progress(step: CompactionStep) -> None:
        of = f" of {step.table}" if step.table else ""
        if step.error:
            print_always(f"{step.what}{of}: left out ({step.error}).", style="red")
        else:
            print_message(f"{step.n:,} {step.what}{of}", style="dim")

    with STDERR.status("Compacting …"):
        done = compact_warehouse(
            warehouse, keep_days=keep_days, on_wait=print_message, on_progress=on_progress
        )
    if form == "json":
        print(json.dumps(asdict(done), indent=1))
    else:
        _print_sizes(done)
    if done.left_out:
        print_always(f"{len(done.left_out)} steps were left out; run it again.", style="red")
        raise typer.Exit(1)


def _print_sizes(done: CompactionResult) -> None:
    table = Table("", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("Before", justify="right")
    table.add_column("After", justify="right")
    for name, after in done.after.items():
        before = done.before.get(name)
        table.add_row(name, "–" if before is None else f"{before:,}", f"{after:,}")
    STDOUT.print(table)
