"""`evergreen publish`: publish an edition as a site."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.options import EditionOption, JudgesOption, TextOrJsonOption, WarehouseOption
from flows.cli.output import print_outcome
from flows.cli.signing_options import SignOption, prepare_signing
from flows.cli.warehouse import open_existing_warehouse
from flows.display.formats import Format
from flows.run import run_flow
from tasks.editions.names import check_scored
from tasks.planning.parameters import MAX_HOURS
from tasks.publishing.material import Snapshots
from tasks.site.mark import check_target
from tasks.warehouse.location import DEFAULT_LOCATION


def _check_positive(hours: float) -> float:
    if hours <= 0:
        raise typer.BadParameter("It must be more than 0.")
    return hours


def publish(
    edition: EditionOption,
    to: Annotated[Path, typer.Option("--to", help="The site's folder; replaced as a whole.")],
    judge: JudgesOption = None,
    snapshots: Annotated[
        Snapshots,
        typer.Option(
            help="What to publish of archived pages: passages that verdicts rest on, or all text."
        ),
    ] = "passages",
    approve: Annotated[
        bool,
        typer.Option(
            "--approve",
            help="Show in the Prefect UI what would be published, and wait for approval there.",
        ),
    ] = False,
    approval_hours: Annotated[
        float,
        typer.Option(
            callback=_check_positive, max=MAX_HOURS, help="How long to wait for approval."
        ),
    ] = 72.0,
    sign: SignOption = None,
    form: TextOrJsonOption = "table",
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Write an edition's results as a static site with leaderboard, evidence and data.

    Exit code 1, and nothing written, if a person declines or nobody decides in time.
    """
    check_target(to)
    prepare_signing(sign)
    with open_existing_warehouse(warehouse, edition) as store:
        check_scored(store, edition, judges=judge or ())
    # The flow opens the warehouse itself, so that it is closed while a person decides.
    complete, outcome = run_flow(
        "publish",
        {
            "edition": edition,
            "to": str(to),
            "judges": judge,
            "snapshots": snapshots,
            "approve": approve,
            "approval_hours": approval_hours,
            "warehouse": warehouse.url,
        },
    )
    print_outcome(complete, outcome, Format(form))
