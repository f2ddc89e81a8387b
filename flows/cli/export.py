"""`evergreen export`: results in other benchmarks' formats."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.options import FolderOption, WarehouseOption, make_edition_option
from flows.cli.output import refuse_unwritable
from flows.cli.warehouse import open_to_read
from flows.display.console import print_message
from tasks.benchmarks.drb2_results import TABLES
from tasks.publishing.drb2 import LINES, ExportSummary, export_drb2
from tasks.warehouse.location import DEFAULT_LOCATION

MAX_SHOWN = 5


def export_results(
    edition: Annotated[str, make_edition_option("An edition imported by `import drb2`.")],
    judge: Annotated[str, typer.Option("--judge", help="The judge of the verdicts.")],
    to: FolderOption,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Write DeepResearch Bench II's result.jsonl and its five agg_scores_*.csv."""
    with open_to_read(warehouse, edition) as source, refuse_unwritable(to):
        summary = export_drb2(source, edition, judge, to)
    _print_summary(summary, to)


def _print_summary(summary: ExportSummary, to: Path) -> None:
    print_message(
        f"{to}: {LINES} with {summary.reports - len(summary.without)} of {summary.reports} reports "
        f"of {summary.agents} agents, and "
        f"agg_scores_*.csv ({', '.join(TABLES)})."
    )
    if summary.without:
        print_message(f"No figures there for {len(summary.without)} of them:", "yellow")
        for line in summary.without[:MAX_SHOWN]:
            print_message(f"  {line}", "yellow")
        if len(summary.without) > MAX_SHOWN:
            print_message(f"  and {len(summary.without) - MAX_SHOWN} more", "yellow")
