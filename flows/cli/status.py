"""`evergreen status`: how far an edition is, also while a flow runs."""

from typing import Annotated

import polars as pl
import typer
from rich import box
from rich.table import Table

from flows.cli.options import Shown, WarehouseAt
from flows.display.console import ANSWERS, remark
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.editions.names import check_known, known_editions
from tasks.judges.registry import judge as judge_named
from tasks.pending.status import StageCounts, edition_status
from tasks.warehouse.location import DEFAULT
from tasks.warehouse.reading import reading


def status(
    edition: Annotated[str | None, typer.Option(help="All of them if not given.")] = None,
    judge: Annotated[
        str | None, typer.Option("--judge", help="Whose verdicts and scores; the default judge's.")
    ] = None,
    form: Shown = Format.TABLE,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """What is done, pending and failed, per stage; verdicts and scores of one judge."""
    decider = judge_named(judge)
    with reading(warehouse) as source:
        if source.notice:
            remark(source.notice, style="yellow")
        if edition:
            check_known(source, edition)
        counts = [
            row
            for name in ([edition] if edition else known_editions(source))
            for row in edition_status(source, name, decider)
        ]
    _print(counts, decider.name, form)


def _print(counts: list[StageCounts], judge: str, form: Format) -> None:
    """Counts per stage of each edition. judge: whose verdicts and scores are counted."""
    if form is not Format.TABLE:
        print_frame(pl.DataFrame([row.model_dump() for row in counts]), form)
        return
    table = Table("Edition", "Stage", box=box.SIMPLE_HEAD)
    for name in ("Done", "Pending", "Failed", "Final"):
        table.add_column(name, justify="right")
    for row in counts:
        numbers = [f"{getattr(row, name):,}" for name in StageCounts.order]
        table.add_row(row.edition, row.stage, *numbers)
    ANSWERS.print(table)
    ANSWERS.print(
        f"Verdicts and scores are those of the judge {judge}; --judge shows another's. Final: "
        "nothing to do and never will be (empty reports, unfetchable pages, queries without key "
        "points, cells the judge cannot assess).",
        style="dim",
    )
