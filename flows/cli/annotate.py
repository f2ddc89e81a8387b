"""`evergreen annotate`: sheets for people to label."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.options import AgentsOption, EditionOption, FolderOption, WarehouseOption
from flows.cli.warehouse import open_existing_warehouse
from flows.display.console import print_message
from tasks.annotation.kinds import KINDS
from tasks.annotation.sheets import import_labels, make_annotation_sheet, write_sheet
from tasks.base import format_count
from tasks.warehouse.location import DEFAULT_LOCATION

LARGEST_SEED = 2**31 - 1
"""The maximum of the warehouse's column."""
MIN_PEOPLE = 3
"""With fewer, people who differ have no majority."""


def make(
    edition: EditionOption,
    kind: Annotated[str, typer.Option(metavar="KIND", help=f"One of {', '.join(KINDS)}.")],
    agent: AgentsOption = None,
    size: Annotated[
        int, typer.Option("--items", min=1, help="Statements, or pairs of texts, to draw.")
    ] = 20,
    seed: Annotated[
        int, typer.Option(min=0, max=LARGEST_SEED, help="A different seed draws a different sheet.")
    ] = 0,
    to: FolderOption = Path(),
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Draw a sheet as SHEET.html, a page that people fill in and that downloads a CSV."""
    with open_existing_warehouse(warehouse) as store:
        sheet = make_annotation_sheet(store, edition, kind, agent or [], size, seed)
    page = write_sheet(sheet, to)
    if len(sheet.panels) < size:
        print_message(f"There are only {len(sheet.panels)}, not {size}: the sheet has them all.")
    questions, parts = len(sheet.items), len(sheet.panels)
    print_message(
        f"{sheet.name}: {format_count(questions, 'question')} in {format_count(parts, 'part')}."
    )
    print_message(f"Page  {page}")
    print_message(
        f"Next: send the page to each person (for {kind}, {MIN_PEOPLE} or more give a "
        "majority). It works offline and downloads a filled CSV. For each CSV:\n"
        f"  evergreen annotate import {sheet.name}.filled.csv --annotator NAME"
    )


def import_filled(
    file: Annotated[Path, typer.Argument(help="A filled CSV.")],
    annotator: Annotated[str, typer.Option(help="Who filled it in.")],
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Check, un-blind and import a filled sheet; importing it again changes nothing."""
    with open_existing_warehouse(warehouse) as store:
        found = import_labels(store, file, annotator)
        edition = store.value(
            "SELECT edition FROM annotation_items WHERE sheet = $1 LIMIT 1", [found.sheet]
        )
    print_message(
        f"{found.sheet} by {annotator.strip()}: {found.labelled} of {found.items} questions "
        f"labelled ({found.new} new, {found.changed} changed), {found.open} left open."
    )
    print_message(f"Next: evergreen compare judges --edition {edition}")
