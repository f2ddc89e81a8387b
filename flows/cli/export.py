"""`evergreen export drb2`: results in the forms of other benches."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.options import WarehouseAt
from flows.display.console import remark
from tasks.benchmarks.drb2_results import TABLES
from tasks.editions.names import check_known
from tasks.publishing.drb2 import LINES, ExportSummary, export_drb2
from tasks.warehouse.location import DEFAULT
from tasks.warehouse.reading import reading

SHOWN = 5


def export_results(
    edition: Annotated[str, typer.Option("--edition", help="One that was imported by drb2.")],
    judge: Annotated[str, typer.Option("--judge", help="Whose verdicts.")],
    to: Annotated[Path, typer.Option("--to", help="A folder; made if it is not there.")],
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Write DeepResearch Bench II's result.jsonl and its five agg_scores_*.csv."""
    with reading(warehouse) as source:
        if source.notice:
            remark(source.notice, style="yellow")
        check_known(source, edition)
        try:
            summary = export_drb2(source, edition, judge, to)
        except OSError as error:
            raise typer.BadParameter(
                f"{to} cannot be written to: {error.strerror or error}", param_hint="to"
            ) from None
    _say(summary, to)


def _say(summary: ExportSummary, to: Path) -> None:
    remark(
        f"{to}: {LINES} with {summary.reports - len(summary.without)} of {summary.reports} reports "
        f"of {summary.agents} agents, and "
        f"agg_scores_*.csv ({', '.join(TABLES)})."
    )
    if summary.without:
        remark(f"No figures there for {len(summary.without)} of them:", "yellow")
        for said in summary.without[:SHOWN]:
            remark(f"  {said}", "yellow")
        if len(summary.without) > SHOWN:
            remark(f"  and {len(summary.without) - SHOWN} more", "yellow")
