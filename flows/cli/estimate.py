"""`evergreen estimate`: estimate what judging will cost."""

from typing import Annotated

import typer

from flows.cli.hints import warn_about_idle_protocols, warn_about_pending_pages
from flows.cli.options import (
    AgentsOption,
    EditionOption,
    ExtractAgainOption,
    ExtractorOption,
    FormatOption,
    WarehouseOption,
)
from flows.cli.protocol_option import ProtocolsOption
from flows.cli.warehouse import open_existing_warehouse
from flows.display.console import print_message
from flows.display.formats import Format
from tasks.editions.names import check_selection
from tasks.judging.protocols import choose_protocols
from tasks.pending.evaluation import Evaluation
from tasks.warehouse.location import DEFAULT_LOCATION


def estimate(
    edition: EditionOption,
    judge: Annotated[str, typer.Option("--judge", help="A judge of configs/judges.yaml.")],
    protocols: ProtocolsOption = None,
    agents: AgentsOption = None,
    extractor: ExtractorOption = None,
    extract_again: ExtractAgainOption = False,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Estimate the calls, tokens and dollars of an evaluation; nothing is spent."""
    from flows.display.estimate import (  # slow: loads judges and prompts
        estimate_evaluation,
        print_estimate,
    )

    with open_existing_warehouse(warehouse) as store:
        chosen = choose_protocols(store, edition, protocols or ())
        check_selection(store, edition, chosen, agents or [], judge)
        warn_about_idle_protocols(store, edition, chosen, named=bool(protocols))
        run = Evaluation(
            store.url, edition, chosen, tuple(agents or ()), judge, extractor, extract_again
        )
        frame, remarks = estimate_evaluation(run)
        warn_about_pending_pages(store, edition, chosen)
    print_estimate(frame, form)
    for remark in remarks:
        print_message(remark, "dim")
