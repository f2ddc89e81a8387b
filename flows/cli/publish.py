"""`evergreen publish`: an edition as a site."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.options import Ended, WarehouseAt
from flows.cli.output import end
from flows.cli.warehouse import existing_warehouse
from flows.display.formats import Format
from flows.run import run_flow
from flows.runtime.parameters import MOST_HOURS
from tasks.editions.names import check_scored
from tasks.publishing.material import Snapshots
from tasks.site.mark import check_target
from tasks.warehouse.location import DEFAULT


def _positive(hours: float) -> float:
    if hours <= 0:
        raise typer.BadParameter("It must be more than 0.")
    return hours


def publish(
    edition: Annotated[str, typer.Option("--edition", help="An edition of the warehouse.")],
    to: Annotated[Path, typer.Option("--to", help="The site's folder; replaced as a whole.")],
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", help="Only its figures; may be given again. All if not given."),
    ] = None,
    snapshots: Annotated[
        Snapshots,
        typer.Option(help="Of archived pages: the passages that verdicts rest on, or all text."),
    ] = "passages",
    approve: Annotated[
        bool,
        typer.Option(
            "--approve",
            help="Show in the Prefect UI what would be published, and wait there for a decision.",
        ),
    ] = False,
    approval_hours: Annotated[
        float,
        typer.Option(callback=_positive, max=MOST_HOURS, help="How long to wait for it."),
    ] = 72.0,
    form: Ended = "table",
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Write an edition's results as a site that needs no server: leaderboard, evidence, data.

    Exit code 1, and nothing written, when a person declines or nobody decides in time.
    """
    check_target(to)
    with existing_warehouse(warehouse, edition) as store:
        check_scored(store, edition)
        for name in judge or ():
            check_scored(store, edition, judge_name=name)
    # The flow opens the warehouse itself: while a person decides nothing holds it.
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
    end(complete, outcome, Format(form))
