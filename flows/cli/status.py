"""`evergreen status`: an edition's progress, also while a flow runs."""

from typing import Annotated

import polars as pl
import typer
from rich import box
from rich.table import Table

from flows.cli.options import FormatOption, WarehouseOption
from flows.cli.warehouse import open_to_read
from flows.display.console import STDOUT, print_message, print_result
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.editions.names import list_editions
from tasks.judges.registry import load_judge
from tasks.planning.stages import count_stages
from tasks.scoring.extractors import describe_extractors
from tasks.stage import StageCounts
from tasks.warehouse.location import DEFAULT_LOCATION


def status(
    edition: Annotated[str | None, typer.Option(help="All editions if not given.")] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge", help="The judge of verdicts and scores; the default judge if not given."
        ),
    ] = None,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Count what is done, pending and failed per stage, for one judge."""
    name_of_judge = load_judge(judge).name
    from tasks.archive.lost_addresses import describe_absent  # slow
    from tasks.archive.pending import describe_second_look

    with open_to_read(warehouse, edition) as source:
        names = [edition] if edition else list_editions(source)
        counts = [row for name in names for row in count_stages(source, name, name_of_judge)]
        remarks = [(name, describe_extractors(source, name)) for name in names]
        for name in names:
            again = f"evergreen fetch --edition {name}"
            remarks.append((name, describe_second_look(source, name, command=again)))
            remarks.append((name, describe_absent(source, name) or ""))
    _print_counts(counts, name_of_judge, form)
    if form is Format.TABLE:
        for name, said in remarks:
            if said:
                print_result(f"{name}: {said}", style="dim")


def _print_counts(counts: list[StageCounts], judge: str, form: Format) -> None:
    """Print counts per stage of each edition. judge: the judge of verdicts and scores."""
    if form is not Format.TABLE:
        print_frame(pl.DataFrame([row.model_dump() for row in counts]), form)
        return
    table = Table("Edition", "Stage", box=box.SIMPLE_HEAD)
    for name in ("Done", "Pending", "Failed", "Final"):
        table.add_column(name, justify="right")
    for row in counts:
        numbers = [f"{getattr(row, name):,}" for name in StageCounts.order]
        table.add_row(row.edition, row.stage, *numbers)
    STDOUT.print(table)
    print_result(
        f"Verdicts and scores are those of the judge {judge}; choose another with --judge. Final: "
        "can never be done (empty reports, unfetchable pages, queries without key points, cells "
        "that the judge cannot assess).",
        style="dim",
    )
    if any(row.failed for row in counts):
        print_message(
            'What failed, and why: evergreen sql "FROM failures_by_agent"; files that were not '
            'imported: evergreen sql "FROM import_issues"',
            style="dim",
        )
