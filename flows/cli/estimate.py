"""`evergreen estimate`: what judging will cost."""

from typing import Annotated

import typer

from flows.cli.hints import say_idle, say_unfetched
from flows.cli.options import Shown, WarehouseAt
from flows.cli.protocol_option import Protocols
from flows.cli.warehouse import existing_warehouse
from flows.display.console import remark
from flows.display.formats import Format
from tasks.editions.names import check_selection
from tasks.judging.protocols import protocols_for
from tasks.warehouse.location import DEFAULT


def estimate(
    edition: Annotated[str, typer.Option("--edition", help="An edition of the warehouse.")],
    judge: Annotated[str, typer.Option("--judge", help="A judge of configs/judges.yaml.")],
    protocols: Protocols = None,
    agents: Annotated[
        list[str] | None, typer.Option("--agent", help="Only this agent; may be given again.")
    ] = None,
    extractor: Annotated[
        str | None, typer.Option("--extractor", help="As for `evaluate`: a judge that extracts.")
    ] = None,
    form: Shown = Format.TABLE,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Calls, tokens and dollars of an evaluation before anything is spent."""
    from flows.display.estimate import estimated, print_estimate  # with judges and their prompts

    with existing_warehouse(warehouse) as store:
        chosen = protocols_for(store, edition, protocols or ())
        check_selection(store, edition, chosen, agents or [], judge)
        say_idle(store, edition, chosen)
        frame, remarks = estimated(store, edition, judge, chosen, agents or [], extractor)
        say_unfetched(store, edition, chosen)
    print_estimate(frame, form)
    for said in remarks:
        remark(said, "dim")
