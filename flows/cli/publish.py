"""`evergreen publish`: publish an edition as a site; `evergreen export`: results in other
benchmarks' formats."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.options import (
    EditionOption,
    FolderOption,
    JudgesOption,
    TextOrJsonOption,
    WarehouseOption,
    make_edition_option,
    takes,
)
from flows.cli.output import print_outcome, refuse_unwritable
from flows.cli.warehouse import open_existing_warehouse, open_to_read
from flows.display.console import print_message
from flows.display.formats import Format
from flows.run import run_flow
from tasks.configuration.secrets import refuse_signing
from tasks.editions.names import check_scored
from tasks.planning.options import PublishOptions
from tasks.planning.parameters import MAX_HOURS
from tasks.publishing.drb2 import LINES, TABLES, ExportSummary, export_drb2
from tasks.site.mark import check_target
from tasks.warehouse.location import DEFAULT_LOCATION

MAX_SHOWN = 5


def _check_positive(hours: float) -> float:
    if hours <= 0:
        raise typer.BadParameter("It must be more than 0.")
    return hours


@takes(
    PublishOptions,
    edition=EditionOption,
    to=Annotated[Path, typer.Option("--to", help="The site's folder; replaced as a whole.")],
    judges=JudgesOption,
    snapshots=typer.Option(
        "--snapshots",
        help="What to publish of archived pages: passages that verdicts rest on, or all text.",
    ),
    approve=typer.Option(
        "--approve",
        help="Show in the Prefect UI what would be published, and wait for approval there.",
    ),
    approval_hours=Annotated[
        float,
        typer.Option(
            "--approval-hours",
            callback=_check_positive,
            max=MAX_HOURS,
            help="How long to wait for approval.",
        ),
    ],
)
def publish(
    options: PublishOptions,
    *,
    form: TextOrJsonOption = "table",
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Write an edition's results as a static site with leaderboard, evidence and data.

    Exit code 1, and nothing written, if a person declines or nobody decides in time.
    """
    check_target(Path(options.to))
    refuse_signing()
    with open_existing_warehouse(warehouse, options.edition) as store:
        check_scored(store, options.edition, judges=options.judges or ())
    # The flow opens the warehouse itself, so that it is closed while a person decides.
    complete, outcome = run_flow("publish", options)
    print_outcome(complete, outcome, Format(form))


def export_results(
    edition: Annotated[str, make_edition_option("An edition imported by `import drb2`.")],
    judge: Annotated[str, typer.Option(help="The judge of the verdicts.")],
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
