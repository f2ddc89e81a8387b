"""`evergreen leaderboard`: the figures of an edition, also while a flow runs."""

from typing import Annotated

import typer

from flows.cli.options import Shown, WarehouseAt
from flows.display.console import remark
from flows.display.formats import Format
from flows.display.leaderboard import print_leaderboard
from tasks.editions.names import check_known, check_scored
from tasks.protocols.registry import named
from tasks.warehouse.location import DEFAULT
from tasks.warehouse.reading import reading


def leaderboard(
    edition: Annotated[str, typer.Option("--edition", help="An edition of the warehouse.")],
    protocol: Annotated[
        list[str] | None,
        typer.Option("--protocol", help="Only this one; may be given again. All if not given."),
    ] = None,
    judge: Annotated[
        str | None, typer.Option("--judge", help="Only this judge's; every judge's if not given.")
    ] = None,
    form: Shown = Format.TABLE,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """The leaderboard of an edition; JSON and CSV hold every metric, as shares 0-1."""
    protocols = [named(each) for each in protocol or ()]
    with reading(warehouse) as source:
        if source.notice:
            remark(source.notice, style="yellow")
        check_known(source, edition)
        check_scored(source, edition, protocols, judge)
        print_leaderboard(source, edition, form, protocols, judge)
