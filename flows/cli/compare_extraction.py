"""`evergreen compare-extraction`: claims that we extract beside those that were published."""

from typing import Annotated

import polars as pl
import polars.selectors as cs
import typer

from flows.cli.options import Shown, WarehouseAt
from flows.display.console import remark
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.analysis.extraction import extraction_agreement
from tasks.editions.names import check_known
from tasks.extraction.agreement import Agreement
from tasks.warehouse.location import DEFAULT
from tasks.warehouse.reading import reading


def compare_extraction(
    edition: Annotated[str, typer.Option("--edition", help="An edition of the warehouse.")],
    form: Shown = Format.TABLE,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Published claims against those extracted offline from the same reports."""
    with reading(warehouse) as source:
        if source.notice:
            remark(source.notice, style="yellow")
        check_known(source, edition)
        _print(list(extraction_agreement(source, edition)), form)


def _print(agreements: list[tuple[str, Agreement]], form: Format) -> None:
    """Offline against published claims, an agent a row; shares 0-1."""
    rows = [
        {
            "agent": agent,
            "claims": found.n_published_claims,
            "offline": found.n_offline_claims,
            "found": found.matched_share,
            "pairs": found.n_published_pairs,
            "offline_pairs": found.n_offline_pairs,
            "pairs_found": found.recall,
            "pairs_confirmed": found.precision,
            "f1": found.f1,
        }
        for agent, found in agreements
    ]
    frame = pl.DataFrame(rows)
    print_frame(frame.with_columns(cs.float().round(3)) if rows else frame, form)
