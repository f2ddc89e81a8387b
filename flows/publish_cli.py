"""`evergreen publish`: an edition as a site."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from flows.console import REMARKS
from flows.ended import end
from flows.options import Ended, WarehousePath
from flows.run import run_flow
from flows.show import Format
from tasks.selection import check_edition, check_scored
from tasks.warehouse.reading import check_there
from tasks.warehouse.store import DEFAULT_PATH, open_warehouse


class Snapshots(StrEnum):
    """What of archived pages is published."""

    PASSAGES = "passages"
    WHOLE = "whole"


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
    ] = Snapshots.PASSAGES,
    approve: Annotated[
        bool,
        typer.Option(
            "--approve",
            help="Show in the Prefect UI what would be published, and wait there for a decision.",
        ),
    ] = False,
    approval_hours: Annotated[float, typer.Option(min=0.0, help="How long to wait for it.")] = 72.0,
    form: Ended = "table",
    warehouse: WarehousePath = DEFAULT_PATH,
) -> None:
    """Write an edition's results as a site that needs no server: leaderboard, evidence, data.

    Exit code 1, and nothing written, when a person declines or nobody decides in time.
    """
    check_there(warehouse)
    with open_warehouse(warehouse, on_wait=REMARKS.print) as store:
        check_edition(store, edition)
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
            "snapshots": snapshots.value,
            "approve": approve,
            "approval_hours": approval_hours,
            "warehouse": str(warehouse.resolve()),
        },
    )
    end(complete, outcome, Format(form))


def register(app: typer.Typer) -> None:
    """Add the command to `evergreen`."""
    app.command()(publish)
