"""`evergreen leaderboard`: an edition's leaderboard, also while a flow runs."""

from typing import Annotated

import typer

from flows.cli.options import EditionOption, FormatOption, ScoreProtocolsOption, WarehouseOption
from flows.cli.warehouse import open_to_read
from flows.display.formats import Format
from flows.display.leaderboard import print_leaderboard
from tasks.editions.names import check_scored
from tasks.protocols.registry import resolve_name
from tasks.warehouse.location import DEFAULT_LOCATION


def leaderboard(
    edition: EditionOption,
    protocol: ScoreProtocolsOption = None,
    judge: Annotated[
        str | None, typer.Option("--judge", help="Only this judge; all if not given.")
    ] = None,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Show an edition's leaderboard; JSON and CSV have every metric, as shares 0-1."""
    protocols = [resolve_name(each) for each in protocol or ()]
    with open_to_read(warehouse, edition) as source:
        check_scored(source, edition, protocols, [judge] if judge else [])
        print_leaderboard(source, edition, form, protocols, judge)
